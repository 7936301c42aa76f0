#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/pipeline.hpp"
#include "sources/cursor_choice.hpp"
#include "sources/intake.hpp"
#include "transport/endpoint.hpp"

namespace skua::sources {

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
  virtual std::unique_ptr<ingest::AnyDecoder> make_decoder(
      ingest::DecoderServices services) const = 0;

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
