#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/data_model.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/unresolved_event.hpp"
#include "repo/car.hpp"

namespace skua::event {

enum class MessageType : std::uint8_t { Commit, Sync, Identity, Account, Info, Error, Unknown };

/// The fields of a frame that routing needs, without decoding the rest.
struct FramePeek {
  MessageType type = MessageType::Unknown;
  std::int64_t seq = 0;  // 0 if the message has no seq
  std::string_view did;  // `repo` of #commit, otherwise `did`; empty if absent
  // `rev` and `time` are set only for #commit and #sync, as the message contains them; they are
  // empty if absent.
  std::string_view rev;
  std::string_view time;
};

/// Reads only a frame's header, `seq`, DID, `rev` and `time`. Skips other values without a check.
/// Returns an error if the bytes are not a frame.
Result<FramePeek> peek_frame(ByteView frame);

/// One op in the list of the commit message. Its views point into the frame.
struct OpClaim {
  Operation operation = Operation::Create;
  std::string_view path;
  std::optional<atproto::Cid> cid;   // absent on delete
  std::optional<atproto::Cid> prev;  // only of update and delete; old producers omit it
};

/// The statements of a #commit or #sync about its repository, which libs/foundation/verify checks.
struct RepoClaim {
  std::optional<std::string_view> since;  // the previous rev; view into the frame
  std::optional<atproto::Cid> commit;     // #commit only
  std::optional<atproto::Cid> prev_data;  // root of the previous tree; old producers omit it
  std::vector<OpClaim> ops;
  /// Whether the path, action or CID of at least one op is unreadable. Such an op is missing from
  /// `ops`.
  bool malformed_ops = false;

  /// Clears all fields. `ops` keeps its memory.
  void clear();
};

/// One decoded message of com.atproto.sync.subscribeRepos. Its views stay valid while the bytes of
/// the frame stay at their address, also after a move of the struct.
struct DecodedFrame {
  MessageType type = MessageType::Unknown;
  std::int64_t seq = 0;
  std::string did;
  Timestamp time;
  std::optional<atproto::Tid> rev;  // #commit, #sync
  /// The ops of a commit in their order, or the one identity or account change. If the block of an
  /// op is missing or is not DAG-CBOR, the op is a Rejection at its position, and the other ops are
  /// not affected.
  std::vector<UnresolvedEvent> events;
  /// The claim is set for #commit and #sync.
  RepoClaim claim;
  /// The blocks of a #commit or #sync, with verified hashes, as views into the frame.
  repo::LoadedCar car;
  /// The name and message of #info, or the error and message of an error frame.
  std::string name;
  std::string message;
};

/// Decodes frames (atproto.com/specs/event-stream and /sync). Contains scratch memory: use one for
/// each thread. No I/O.
class FrameDecoder {
 public:
  /// Returns an error if the whole frame is unusable (not DAG-CBOR, a required field missing or of
  /// the wrong type, a block that does not match its CID, a limit exceeded). `out` is then
  /// undefined.
  Result<void> decode(ByteView frame, DecodedFrame& out);

 private:
  atproto::Document header_;
  atproto::Document body_;
  atproto::Document record_;
};

/// Reduces a commit's operations to the net effect for each path, in place. A delete and a later
/// create of the same key become an update. A create and later operations become their end state.
/// Otherwise the order does not change. All operations of a commit have one revision, so the
/// revision guard cannot order them.
void fold_commit(std::vector<UnresolvedEvent>& events);

/// Returns the operation that an op's `action` names, or nothing for an unknown action.
std::optional<Operation> operation_of(std::string_view action);

/// Decodes the ops of one commit. Lives on the stack while one frame is decoded. `blocks` are the
/// commit's blocks with verified hashes; `scratch` is memory that is reused.
class OpDecoder {
 public:
  OpDecoder(std::string_view did, std::int64_t seq, atproto::Tid rev, const repo::BlockMap& blocks,
            atproto::Document& scratch)
      : did_(did), seq_(seq), rev_(rev), blocks_(blocks), scratch_(scratch) {}

  /// Fills `out`, which is new, with a RecordChange. If the op cannot be used, `out` becomes a
  /// Rejection; its payload is the record's block if there is one, otherwise the op's own DAG-CBOR.
  void decode(const atproto::Value& op, UnresolvedEvent& out);

 private:
  /// Returns the error message, which is empty on success.
  std::string read(const atproto::Value& op, UnresolvedEvent& out);
  std::string read_block(const atproto::Value& op, RecordChange& change);

  std::string_view did_;
  std::int64_t seq_;
  atproto::Tid rev_;
  const repo::BlockMap& blocks_;
  atproto::Document& scratch_;
};

}  // namespace skua::event
