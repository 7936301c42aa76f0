#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/tid.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/json_event.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

enum class JetstreamKind : std::uint8_t { Commit, Identity, Account, Sync, Info, Error, Unknown };

/// The fields of an event that routing needs, without decoding the rest.
struct JetstreamPeek {
  JetstreamKind kind = JetstreamKind::Unknown;
  /// Where a stream may go on: v1's `time_us`, v2's `seq`. 0 when the event has none.
  std::int64_t cursor = 0;
  std::string_view did;  // empty when the event has none
};

/// Reads kind, cursor and DID only; of a repeated key the first counts. Error: not a JSON object.
Result<JetstreamPeek> peek_jetstream(std::string_view text);

/// One event of Jetstream (github.com/bluesky-social/jetstream), decoded. v1 says
/// `{"did", "time_us", "kind": "commit", "commit": {...}}`; v2 wraps
/// `{"$type": "...#commit", "seq", "did", "time", ...}` as the payload of a message of
/// xrpc.v1.json.
struct JetstreamMessage {
  JetstreamKind kind = JetstreamKind::Unknown;
  std::int64_t cursor = 0;
  std::string did;
  /// When Jetstream saw it: in v2 `witnessedAt`, else `time`. The epoch when it does not say.
  Timestamp time;
  /// Sync: the revision from which on the repository is to be had whole.
  std::optional<atproto::Tid> rev;
  /// Commit, Identity, Account: the one event, or a Rejection whose payload is the message.
  std::vector<UnresolvedEvent> events;
  /// See JsonOpDecoder.
  bool cid_matches = true;
  /// Info: name and message. Error, which ends a v2 stream: error and message.
  std::string name;
  std::string message;
};

/// Decodes events of both versions. Holds scratch memory: one a thread, no I/O.
class JetstreamDecoder {
 public:
  /// Error: this is no event as a whole (no JSON object, larger than 8 MB, an event of an account
  /// without a cursor, a DID or a time); `out` is then undefined.
  Result<void> decode(std::string_view text, JetstreamMessage& out);

 private:
  void read_commit(JsonSlice body, std::string_view text, JetstreamMessage& out);

  JsonOpDecoder op_;
};

}  // namespace skua::event
