#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/data_model.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/unresolved_event.hpp"
#include "repo/car_reader.hpp"

namespace skua::event {

enum class MessageType : std::uint8_t { Commit, Sync, Identity, Account, Info, Error, Unknown };

/// What can be had of a frame without decoding it: enough to route it.
struct FramePeek {
  MessageType type = MessageType::Unknown;
  std::int64_t seq = 0;  // 0 when the message has none
  std::string_view did;  // `repo` or `did`; empty when the message has none
};

/// Looks at a frame's header, `seq` and DID only; values are skipped, not checked. Error: no frame.
Result<FramePeek> peek_frame(ByteView frame);

/// One message of com.atproto.sync.subscribeRepos, decoded.
struct DecodedFrame {
  MessageType type = MessageType::Unknown;
  std::int64_t seq = 0;
  std::string did;
  Timestamp time;
  std::optional<atproto::Tid> rev;  // #commit, #sync
  /// A commit's ops in their order, or the one identity or account change. An op that cannot be
  /// used (its block is missing, or is not DAG-CBOR) stands here as a Rejection, its siblings are
  /// untouched.
  std::vector<UnresolvedEvent> events;
  /// #info: name and message. Error frame: error and message.
  std::string name;
  std::string message;
};

/// Decodes frames (atproto.com/specs/event-stream and /sync). Holds scratch memory: one a thread,
/// no I/O.
class FrameDecoder {
 public:
  /// Error: the frame as a whole is unusable (not DAG-CBOR, a required field missing or of the
  /// wrong type, a block that is not what its CID says, a limit exceeded). `out` is then undefined.
  Result<void> decode(ByteView frame, DecodedFrame& out);

 private:
  atproto::Document header_;
  atproto::Document body_;
  atproto::Document record_;
  repo::LoadedCar car_;
};

/// Folds a commit's ops to the last effect per path, in place: a delete followed by a create of one
/// key is an update, whatever follows a create is judged by its end. Order is kept otherwise. Ops
/// of one commit share their rev, so the rev guard cannot order them: this does.
void fold_commit(std::vector<UnresolvedEvent>& events);

}  // namespace skua::event
