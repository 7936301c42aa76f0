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

/// How much of a message is checked against the account's key: its signature alone, or also that
/// its ops are what changed the tree.
enum class Level : std::uint8_t { Signature, Full };

/// The known state of a repository before a message.
struct RepositoryState {
  /// Nothing: no message of the repository was accepted yet.
  std::optional<atproto::RepositoryHead> head;
  /// Whether the commits of the account count: false while it is taken down or suspended.
  bool active = true;
};

/// The relation of an accepted message to the known state of its repository.
enum class Continuity : std::uint8_t {
  First,   // nothing was known
  Born,    // nothing was known, and there is nothing: the repository was empty before (Level::Full)
  Next,    // `since` and `prevData` are where the repository stood; of a #sync: nothing was missed
  Broken,  // something in between may have been missed: the repository is desynchronized
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

/// How far a host's clock may be ahead of ours (atproto.com/specs/sync).
inline constexpr std::chrono::minutes kFuture{5};

/// How far the time of a message may be ahead of our clock; a later time counts as this one. The
/// account's host states the time, and a relay passes it on (Jetstream states its own). A host that
/// states a later time moves the bound for the revisions of its own accounts by at most this much,
/// and does not affect other accounts.
inline constexpr std::chrono::hours kBelievedAhead{1};

/// Whether a revision is more than `kFuture` after the later of our clock and the message's time,
/// which counts up to `kBelievedAhead`. `message_time`: the epoch when there is none.
bool is_of_the_future(atproto::Tid rev, Timestamp message_time, Timestamp now);

/// Checks #commit and #sync messages for consistency, against the account's key, and against the
/// known state of the repository (atproto.com/specs/sync, "Firehose validation"). It trusts no
/// statement of the host. Pure: no I/O. Contains scratch memory: one for each thread.
class CommitVerifier {
 public:
  explicit CommitVerifier(Level level) : level_(level) {}

  /// The checks that need no key, in this order: account, revision, and whether the message
  /// contains the commit object of this account and revision, under its hash. The commit views the
  /// frame. Errors: inactive_account to wrong_rev.
  static Result<repo::Commit> admit(const event::DecodedFrame& frame, const RepositoryState& state,
                                    Timestamp now);

  /// The other checks of the level. Errors: wrong_signature (final only after the account's
  /// document was fetched again); malformed_op to wrong_prev_data: the signature is right, but the
  /// message does not describe the change of the repository.
  Result<Accepted> verify(const event::DecodedFrame& frame, const repo::Commit& commit,
                          const atproto::VerifyingKey& key, const RepositoryState& state);

  /// Whether the operations lead from `prevData` to the commit's tree: the tree contains their
  /// results, and their inversion leads to the former root. Without `prevData`, or without `prev`
  /// of an update or delete, only the results are checked: some operations may be missing from the
  /// list, so the commit does not follow a known head. A record may be missing from the blocks.
  Result<void> check_ops(const event::RepoClaim& claim, const repo::LoadedCar& car,
                         const repo::Commit& commit);

 private:
  /// Whether the repository was empty before a message that passed `check_ops`.
  static bool was_empty_before(const event::DecodedFrame& frame, const repo::Commit& commit);

  Level level_;
  std::vector<std::string_view> paths_;
};

}  // namespace skua::verify
