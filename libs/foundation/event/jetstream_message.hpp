#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/json_event.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

/// Writes events in the format of Jetstream v1 (github.com/bluesky-social/jetstream): one JSON
/// object. Contains scratch memory: use one for each thread.
class JetstreamWriter {
 public:
  /// Appends the event without an end of line. `time` is the time of its frame; `time_us` has
  /// microseconds. Appends nothing and returns false if the event is a Rejection, which Jetstream
  /// cannot represent.
  bool append(std::string& out, const UnresolvedEvent& event, Timestamp time);

 private:
  atproto::Document record_;
};

enum class JetstreamKind : std::uint8_t { Commit, Identity, Account, Sync, Info, Error, Unknown };

/// The fields of an event that routing needs, without decoding the rest.
struct JetstreamPeek {
  JetstreamKind kind = JetstreamKind::Unknown;
  /// The position from which a stream can resume: `time_us` in v1, `seq` in v2. 0 if absent.
  std::int64_t cursor = 0;
  std::string_view did;  // empty when the event has no DID
};

/// Reads only kind, cursor and DID. For a repeated key the first value counts. Of a message that is
/// malformed or has no end, the function reads the fields before the fault. Returns an error if
/// such a message has no cursor before the fault.
Result<JetstreamPeek> peek_jetstream(std::string_view text);

/// One decoded event of Jetstream (github.com/bluesky-social/jetstream). v1 sends `{"did",
/// "time_us", "kind": "commit", "commit": {...}}`; v2 wraps `{"$type": "...#commit", "seq", "did",
/// "time", ...}` as the payload of a message of xrpc.v1.json.
struct JetstreamMessage {
  JetstreamKind kind = JetstreamKind::Unknown;
  std::int64_t cursor = 0;
  std::string did;
  /// The time at which Jetstream received the event: `witnessedAt` in v2, otherwise `time`. The
  /// epoch if both are absent.
  Timestamp time;
  /// The revision from which the whole repository can be downloaded. Set only for Sync.
  std::optional<atproto::Tid> rev;
  /// The one event of a Commit, Identity or Account message, or a Rejection with the message as
  /// payload.
  std::vector<UnresolvedEvent> events;
  /// See JsonOpDecoder.
  bool cid_matches = true;
  /// Whether a create or update has no record, so that the event is a Rejection. A Tap sends such
  /// an event if it could not decode the record.
  bool lacks_record = false;
  /// The name and message of Info, or the error and message of Error, which ends a v2 stream.
  std::string name;
  std::string message;
};

/// Decodes events of both versions. Contains scratch memory: use one for each thread. No I/O.
class JetstreamDecoder {
 public:
  /// Returns an error if the whole message is unusable (not a JSON object, larger than 8 MB, an
  /// event of an account without a cursor, a DID or a time). `out` is then undefined.
  Result<void> decode(std::string_view text, JetstreamMessage& out);

 private:
  void read_commit(JsonSlice body, std::string_view text, JetstreamMessage& out);

  JsonOpDecoder op_;
};

}  // namespace skua::event
