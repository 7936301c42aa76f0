#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "atproto/cid.hpp"
#include "atproto/repository_state.hpp"
#include "atproto/signing.hpp"
#include "atproto/tid.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "repo/car.hpp"
#include "repo/commit.hpp"

namespace skua::verify {

/// The checks of a message: only its signature, or also that its ops are the changes of the tree.
enum class Level : std::uint8_t { Signature, Full };

/// The known state of a repository before a message.
struct RepositoryState {
  /// Nothing if no message of the repository was accepted yet.
  std::optional<atproto::RepositoryHead> head;
  /// Whether the commits of the account count. False while the account is taken down or suspended.
  bool active = true;
};

/// The relation of an accepted message to the known state of its repository.
enum class Continuity : std::uint8_t {
  First,   // no head was known
  Born,    // no head was known, and the repository was empty before the message (Level::Full)
  Next,    // `since` and `prevData` match the known head; for a #sync: no message was missed
  Broken,  // a message may have been missed: the repository is desynchronized
};

/// Whether the message is the first that was seen of its repository.
constexpr bool is_first(Continuity continuity) {
  return continuity == Continuity::First || continuity == Continuity::Born;
}

/// A message that passed its checks.
struct Accepted {
  /// The new head of the repository.
  atproto::RepositoryHead head;
  Continuity continuity = Continuity::First;
};

/// The largest time by which a host's clock may be ahead of ours (atproto.com/specs/sync).
inline constexpr std::chrono::minutes kFuture{5};

/// The largest time by which a message may be ahead of our clock. A later time counts as this
/// limit. The account's host states the time, and a relay passes it on (Jetstream states its own
/// time). A host that states a later time moves the bound for the revisions of its own accounts by
/// at most this much, and does not affect other accounts.
inline constexpr std::chrono::hours kBelievedAhead{1};

/// Whether a revision is more than `kFuture` after our clock and after the time of the message. The
/// time of the message counts up to `kBelievedAhead`. `message_time` is the epoch if the message
/// has no time.
bool is_of_the_future(atproto::Tid rev, Timestamp message_time, Timestamp now);

/// Checks #commit and #sync messages for consistency, against the account's key, and against the
/// known state of the repository (atproto.com/specs/sync, "Firehose validation"). Trusts no
/// statement of the host. Pure: no I/O. Contains scratch memory: use one for each thread.
class CommitVerifier {
 public:
  explicit CommitVerifier(Level level) : level_(level) {}

  /// Runs the checks that need no key, in this order: account, revision, and whether the message
  /// contains the commit object of this account and revision under its hash. The returned commit
  /// views the frame. Errors: inactive_account to wrong_rev.
  static Result<repo::Commit> admit(const event::DecodedFrame& frame, const RepositoryState& state,
                                    Timestamp now);

  /// Runs the other checks of the level. Errors: wrong_signature, and malformed_op to
  /// wrong_prev_data. The first is final only after the account's document was fetched again. The
  /// others mean that the signature is right but the message does not describe the change of the
  /// repository.
  Result<Accepted> verify(const event::DecodedFrame& frame, const repo::Commit& commit,
                          const atproto::VerifyingKey& key, const RepositoryState& state);

  /// Checks that the operations lead from `prevData` to the commit's tree: the tree contains the
  /// results of the operations, and their inversion leads to the previous root. Without `prevData`,
  /// or without `prev` of an update or delete, only the results are checked: some operations may be
  /// missing from the list, so the commit does not follow a known head. A record may be missing
  /// from the blocks.
  Result<void> check_ops(const event::RepoClaim& claim, const repo::LoadedCar& car,
                         const repo::Commit& commit);

 private:
  /// Whether the repository was empty before a message that passed `check_ops`.
  static bool was_empty_before(const event::DecodedFrame& frame, const repo::Commit& commit);

  Level level_;
  std::vector<std::string_view> paths_;
};

}  // namespace skua::verify
