#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metric.hpp"
#include "pipeline/metrics.hpp"
#include "pipeline/pipeline.hpp"
#include "sources/intake.hpp"
#include "transport/endpoint.hpp"

namespace skua::sources {

/// Where a run begins to read a source.
struct CursorChoice {
  enum class Kind : std::uint8_t {
    Saved,   // the saved cursor; live when there is none
    Live,    // new events only
    Oldest,  // the oldest event that the source keeps
    At,      // after `seq`
    Resume,  // the saved cursor; after `seq` when there is none
  };
  Kind kind = Kind::Saved;
  std::int64_t seq = 0;
};

/// The position that the first connection asks for; nothing: live. `saved`: the cursor in the
/// database, or else the source's own default.
std::optional<std::int64_t> start_position(const CursorChoice& choice,
                                           std::optional<std::int64_t> saved);

/// The choice for a run that continues another one, after the database has become an older one: the
/// saved cursor, or without one the position after which the other run began. `began`: nothing when
/// the other run read nothing.
CursorChoice resumed(CursorChoice choice, std::optional<std::int64_t> began);

/// Counters of the connection to one source.
struct ConnectionCounters {
  Counter reconnects{"reconnects", "skua_reconnects_total", "connections",
                     "Connections after the first one"};
  Counter skipped{"skipped", "skua_skipped_sequence_numbers_total", "sequence numbers",
                  "Sequence numbers that are missing between the cursor and the first message of a "
                  "connection"};
  Counter restarts{"restarts", "skua_sequence_resets_total", "resets",
                   "Resets of the source's sequence numbers"};
};

/// The metrics of a relay that stands by: all counts are 0. Without those of its connection.
pipeline::Metrics uncounted_metrics();

/// All metrics that a source can have.
std::vector<pipeline::MetricDeclaration> source_metric_declarations();

/// What the messages of a source prove.
enum class Proof : std::uint8_t {
  /// Nothing: JSON without signatures.
  None,
  /// Each commit is signed by its account and carries the changed part of the tree.
  Commits,
  /// Each label is signed by its labeler.
  Labels,
};

/// A source at an address: its name, its trust level, and the parts that read it. One subclass for
/// each kind, in a folder of its own. Immutable; any thread.
class Source {
 public:
  explicit Source(transport::Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// `relay`, `tap`, `jetstream` or `labeler`: the prefix of the name, and the name of its logger.
  virtual std::string_view kind() const = 0;
  virtual Proof proof() const = 0;

  /// Whether sources of this kind send the same events, so that one can replace another
  /// (docs/adr/0003).
  virtual bool has_standbys() const { return false; }
  /// Whether a position can be asked for. A Tap sends again what was not acknowledged instead.
  virtual bool has_cursor() const { return true; }
  /// Whether the source is told which messages are durable (Intake::on_finished).
  virtual bool is_acknowledged() const { return false; }
  /// Where the first run begins that has no saved cursor; nothing: live.
  virtual std::optional<std::int64_t> first_position() const { return std::nullopt; }
  /// How many decoders help, of as many as were asked for.
  virtual std::size_t decode_threads(std::size_t wanted) const { return wanted; }

  virtual std::unique_ptr<Intake> make_intake(IntakeServices services) const = 0;
  virtual std::unique_ptr<pipeline::AnyDecoder> make_decoder(
      pipeline::DecoderServices services) const = 0;

  const transport::Endpoint& endpoint() const { return endpoint_; }
  /// `relay:host`, with the port unless it is the scheme's own: the name of the source in cursors,
  /// tombstones and dead letters.
  std::string name() const { return std::string(kind()) + ":" + endpoint_.authority(); }
  /// For people.
  std::string url() const { return endpoint_.url(); }

 private:
  const transport::Endpoint endpoint_;
};

/// A source, and where a run begins to read it.
struct SourceStart {
  std::shared_ptr<const Source> source;
  CursorChoice cursor;
};

}  // namespace skua::sources
