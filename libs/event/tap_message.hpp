#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "event/json_event.hpp"
#include "event/unresolved_event.hpp"

namespace skua::event {

enum class TapType : std::uint8_t { Record, Identity, Unknown };

/// The fields of a message that routing and acknowledging need, without decoding the rest.
struct TapPeek {
  std::int64_t id = 0;
  TapType type = TapType::Unknown;
  std::string_view did;  // empty when the message has none
};

/// Reads id, type and DID only; of a repeated key the first counts. Error: the id is missing. A
/// message that is malformed after its id has a peek, so that it can be acknowledged.
Result<TapPeek> peek_tap(std::string_view text);

/// One text frame of Tap's `/channel` (github.com/bluesky-social/indigo, cmd/tap), decoded.
struct TapMessage {
  std::int64_t id = 0;
  TapType type = TapType::Unknown;
  std::string did;
  /// Record: the one change. Identity: the handle and the status. Unusable content is a Rejection
  /// with the message without its envelope as payload, because the id changes when the event is
  /// sent again. For this reason, and because Tap has no cursor, `seq` is 0. Unknown: none.
  std::vector<UnresolvedEvent> events;
  /// See JsonOpDecoder.
  bool cid_matches = true;
};

/// Decodes messages of Tap. Holds scratch memory: one a thread, no I/O.
class TapDecoder {
 public:
  /// `received_at` is the time of identity and account changes: Tap says none. Error: this is no
  /// message as a whole (no JSON object, no id, larger than 8 MB); `out` is then undefined.
  Result<void> decode(std::string_view text, Timestamp received_at, TapMessage& out);

 private:
  void read_record(JsonSlice body, TapMessage& out);
  void read_identity(JsonSlice body, Timestamp time, TapMessage& out);

  JsonOpDecoder op_;
};

/// What tells Tap that an event is done with.
std::string tap_ack(std::int64_t id);

}  // namespace skua::event
