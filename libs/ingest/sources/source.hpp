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

/// The position at which a run begins to read a source.
struct CursorChoice {
  enum class Kind : std::uint8_t {
    Saved,   // the saved cursor, or live if there is none
    Live,    // new events only
    Oldest,  // the oldest event that the source keeps
    At,      // after `seq`
    Resume,  // the saved cursor, or after `seq` if there is none
  };
  Kind kind = Kind::Saved;
  std::int64_t seq = 0;
};

/// Returns the position at which the first connection begins. Nothing means live. `saved` is the
/// cursor in the database, or without it the source's own default.
std::optional<std::int64_t> start_position(const CursorChoice& choice,
                                           std::optional<std::int64_t> saved);

/// Returns the choice for a run that continues another run after the database was replaced by an
/// older one. It is the saved cursor, or without a cursor the position after which the other run
/// began. `began` is that position, or nothing if the other run read nothing.
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

/// Returns the metrics of a relay that stands by, without the metrics of its connection. All counts
/// are 0.
pipeline::Metrics uncounted_metrics();

/// Returns all metrics that a source can have.
std::vector<pipeline::MetricDeclaration> source_metric_declarations();

/// The part of a source's messages that can be verified.
enum class Proof : std::uint8_t {
  /// The messages prove nothing: they are JSON without signatures.
  None,
  /// Each commit is signed by its account and carries the changed part of the tree.
  Commits,
  /// Each label is signed by its labeler.
  Labels,
};

/// A source at an address: its name, its trust level, and the parts that read it. There is one
/// subclass for each kind, in a folder of its own. A source is immutable, and any thread may use
/// it.
class Source {
 public:
  explicit Source(transport::Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Returns `relay`, `tap`, `jetstream` or `labeler`. It is the prefix of the source's name, and
  /// the name of its logger.
  virtual std::string_view kind() const = 0;
  virtual Proof proof() const = 0;

  /// Whether sources of this kind send the same events, so that one can replace another
  /// (docs/adr/0003).
  virtual bool has_standbys() const { return false; }
  /// Whether the source can be read from a position. A Tap cannot. It repeats messages that were
  /// not acknowledged instead.
  virtual bool has_cursor() const { return true; }
  /// Whether the source is told which messages are durable (Intake::on_finished).
  virtual bool is_acknowledged() const { return false; }
  /// Returns the position at which the first run begins if it has no saved cursor. Nothing means
  /// live.
  virtual std::optional<std::int64_t> first_position() const { return std::nullopt; }
  /// Returns the number of decoders that are useful, of `wanted`.
  virtual std::size_t decode_threads(std::size_t wanted) const { return wanted; }

  virtual std::unique_ptr<Intake> make_intake(IntakeServices services) const = 0;
  virtual std::unique_ptr<pipeline::AnyDecoder> make_decoder(
      pipeline::DecoderServices services) const = 0;

  const transport::Endpoint& endpoint() const { return endpoint_; }
  /// Returns the name of the source in cursors, tombstones and dead letters. It is `relay:host`,
  /// with the port unless it is the default port of the scheme.
  std::string name() const { return std::string(kind()) + ":" + endpoint_.authority(); }
  /// Returns the address for users.
  std::string url() const { return endpoint_.url(); }

 private:
  const transport::Endpoint endpoint_;
};

/// A source, and the position at which a run begins to read it.
struct SourceStart {
  std::shared_ptr<const Source> source;
  CursorChoice cursor;
};

}  // namespace skua::sources
