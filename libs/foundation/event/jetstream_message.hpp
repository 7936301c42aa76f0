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
  /// microseconds. False: the event is a Rejection, which Jetstream cannot represent; nothing is
  /// appended.
  bool append(std::string& out, const UnresolvedEvent& event, Timestamp time);

 private:
  atproto::Document record_;
};

enum class JetstreamKind : std::uint8_t { Commit, Identity, Account, Sync, Info, Error, Unknown };

/// The fields of an event that routing needs, without decoding the rest.
struct JetstreamPeek {
  JetstreamKind kind = JetstreamKind::Unknown;
  /// The position from which a stream can resume: v1's `time_us`, v2's `seq`. 0 when absent.
  std::int64_t cursor = 0;
  std::string_view did;  // empty when the event has no DID
};

/// Reads only kind, cursor and DID. For a repeated key the first value counts. Of a message that is
/// malformed or has no end, those that stand before; without a cursor it is an error.
Result<JetstreamPeek> peek_jetstream(std::string_view text);

/// One decoded event of Jetstream (github.com/bluesky-social/jetstream). v1 sends `{"did",
/// "time_us", "kind": "commit", "commit": {...}}`; v2 wraps `{"$type": "...#commit", "seq", "did",
/// "time", ...}` as the payload of a message of xrpc.v1.json.
struct JetstreamMessage {
  JetstreamKind kind = JetstreamKind::Unknown;
  std::int64_t cursor = 0;
  std::string did;
  /// When Jetstream received it: in v2 `witnessedAt`, otherwise `time`. The epoch if both are
  /// absent.
  Timestamp time;
  /// Sync: the revision from which the whole repository can be downloaded.
  std::optional<atproto::Tid> rev;
  /// Commit, Identity, Account: the one event, or a Rejection with the message as payload.
  std::vector<UnresolvedEvent> events;
  /// See JsonOpDecoder.
  bool cid_matches = true;
  /// A create or update came without its record; it is a Rejection. A Tap does so if it could not
  /// decode the record.
  bool lacks_record = false;
  /// Info: name and message. Error (it ends a v2 stream): error and message.
  std::string name;
  std::string message;
};

/// Decodes events of both versions. Contains scratch memory: use one for each thread. No I/O.
class JetstreamDecoder {
 public:
  /// Error: the message as a whole is unusable (not a JSON object, larger than 8 MB, an event of an
  /// account without a cursor, a DID or a time). `out` is then undefined.
  Result<void> decode(std::string_view text, JetstreamMessage& out);

 private:
  void read_commit(JsonSlice body, std::string_view text, JetstreamMessage& out);

  JsonOpDecoder op_;
};

}  // namespace skua::event
