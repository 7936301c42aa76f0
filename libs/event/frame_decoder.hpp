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

/// The fields of a frame that routing needs, without decoding the rest.
struct FramePeek {
  MessageType type = MessageType::Unknown;
  std::int64_t seq = 0;  // 0 when the message has none
  std::string_view did;  // `repo` of #commit, otherwise `did`; empty when the message has none
  // Of #commit and #sync, as they stand there; empty when the message has none.
  std::string_view rev;
  std::string_view time;
};

/// Looks at a frame's header, `seq`, DID, `rev` and `time` only; values are skipped, not checked.
/// Error: no frame.
Result<FramePeek> peek_frame(ByteView frame);

/// An op of a commit as the message lists it. Views into the frame.
struct OpClaim {
  Operation operation = Operation::Create;
  std::string_view path;
  std::optional<atproto::Cid> cid;   // absent on delete
  std::optional<atproto::Cid> prev;  // of update and delete; old producers leave it out
};

/// The statements of a #commit or #sync about its repository, for libs/verify.
struct RepoClaim {
  std::optional<std::string_view> since;  // the rev before; view into the frame
  std::optional<atproto::Cid> commit;     // #commit only
  std::optional<atproto::Cid> prev_data;  // root of the tree before; old producers leave it out
  std::vector<OpClaim> ops;
  /// An op has no path, action or CID that could be read: it is not among `ops`.
  bool malformed_ops = false;

  /// Empties it; the memory of `ops` stays.
  void clear();
};

/// One message of com.atproto.sync.subscribeRepos, decoded. Its views stay valid while the bytes of
/// the frame stay where they are, also after a move.
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
  /// #commit, #sync.
  RepoClaim claim;
  /// #commit, #sync: the blocks, whose hashes are right. Views into the frame.
  repo::LoadedCar car;
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
};

/// Reduces a commit's operations to the last effect for each path, in place: a delete followed by a
/// create of the same key is an update; operations after a create are reduced to their end state.
/// Otherwise the order stays. All operations of a commit have one revision, so the revision guard
/// cannot order them.
void fold_commit(std::vector<UnresolvedEvent>& events);

}  // namespace skua::event
