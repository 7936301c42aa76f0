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
  std::string_view did;  // empty if the message has no DID
};

/// Reads only id, type and DID. For a repeated key the first value counts. Returns an error if the
/// id is missing. If a message is malformed only after its id, the peek succeeds, so that the
/// message can be acknowledged.
Result<TapPeek> peek_tap(std::string_view text);

/// One decoded text frame of Tap's `/channel` (github.com/bluesky-social/indigo, cmd/tap).
struct TapMessage {
  std::int64_t id = 0;
  TapType type = TapType::Unknown;
  std::string did;
  /// The one change of a Record message, or the handle and the status of an Identity message. Empty
  /// for Unknown. Unusable content becomes a Rejection. Its payload is the message without its
  /// envelope, because the id changes when the event is sent again. For this reason, and because
  /// Tap has no cursor, `seq` is 0.
  std::vector<UnresolvedEvent> events;
  /// See JsonOpDecoder.
  bool cid_matches = true;
  /// Whether a create or update has no record, so that the event is a Rejection. A Tap sends such
  /// an event if it could not decode the record.
  bool lacks_record = false;
};

/// Decodes messages of Tap. Contains scratch memory: use one for each thread. No I/O.
class TapDecoder {
 public:
  /// `received_at` becomes the time of identity and account changes, because Tap sends none.
  /// Returns an error if the whole message is unusable (not a JSON object, no id, larger than 8
  /// MB). `out` is then undefined.
  Result<void> decode(std::string_view text, Timestamp received_at, TapMessage& out);

 private:
  void read_record(JsonSlice body, TapMessage& out);
  void read_identity(JsonSlice body, Timestamp time, TapMessage& out);

  JsonOpDecoder op_;
};

/// Returns the message that acknowledges an event to Tap.
std::string tap_ack(std::int64_t id);

}  // namespace skua::event
