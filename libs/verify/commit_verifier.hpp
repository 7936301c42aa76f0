#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "atproto/cid.hpp"
#include "atproto/signing.hpp"
#include "atproto/tid.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/frame_decoder.hpp"
#include "repo/car_reader.hpp"
#include "repo/commit.hpp"

namespace skua::verify {

/// How much of a message is checked against the account's key: its signature alone, or also that
/// its ops are what changed the tree.
enum class Level : std::uint8_t { Signature, Full };

/// Where a repository stands: its newest revision and the root of its tree then.
struct ChainLink {
  atproto::Tid rev;
  atproto::Cid data;
  friend bool operator==(const ChainLink&, const ChainLink&) = default;
};

/// What is known of a repository before a message about it.
struct RepositoryState {
  /// Nothing: the repository was never seen.
  std::optional<ChainLink> last;
  /// Whether what the account signs counts: not while it is taken down or suspended.
  bool active = true;
};

/// How an accepted message follows what is known of its repository.
enum class Continuity : std::uint8_t {
  First,   // nothing was known
  Born,    // nothing was known, and there is nothing: the repository was empty before (Level::Full)
  Next,    // `since` and `prevData` are where the repository stood; of a #sync: nothing was missed
  Broken,  // something in between was missed: the repository is desynchronized
};

/// Whether the message is the first that was seen of its repository.
constexpr bool is_first(Continuity continuity) {
  return continuity == Continuity::First || continuity == Continuity::Born;
}

/// A message that passed its checks.
struct Accepted {
  /// Where the repository stands now.
  ChainLink link;
  Continuity continuity = Continuity::First;
};

/// How far a host's clock may be ahead of ours (atproto.com/specs/sync).
inline constexpr std::chrono::minutes kFuture{5};

/// How far ahead of our clock the time that a message states is believed. It is the word of the
/// account's host, which a relay passes on (of Jetstream: the server's): whoever states a later
/// one moves the bound of its own accounts' revisions by so much at most, and harms nobody else.
inline constexpr std::chrono::hours kBelievedAhead{1};

/// Whether a revision lies more than `kFuture` after the later of our clock and the message's time,
/// the latter believed within `kBelievedAhead`. `message_time`: the epoch when there is none.
bool is_of_the_future(atproto::Tid rev, Timestamp message_time, Timestamp now);

/// Checks #commit and #sync messages against themselves, their account's key and what is known of
/// the repository (atproto.com/specs/sync, "Firehose validation"): nothing is believed because the
/// host says it. Pure: no I/O. Holds scratch memory: one a thread.
class CommitVerifier {
 public:
  explicit CommitVerifier(Level level) : level_(level) {}

  /// What can be told without a key, in the order of the checks: account, revision, and whether the
  /// message is about a commit object of this account and revision that is among its blocks, by
  /// the hash that names it. The commit views the frame. Errors: inactive_account to wrong_rev.
  static Result<repo::Commit> admit(const event::DecodedFrame& frame, const repo::LoadedCar& car,
                                    const RepositoryState& state, Timestamp now);

  /// The rest of what the level asks for. Errors: wrong_signature (final only after a fresh look at
  /// the account's document), malformed_op to wrong_prev_data.
  Result<Accepted> verify(const event::DecodedFrame& frame, const repo::LoadedCar& car,
                          const repo::Commit& commit, const atproto::VerifyingKey& key,
                          const RepositoryState& state);

  /// Whether the ops are what led from `prevData` to the commit's tree: the tree holds what they
  /// say, their records are among the blocks, and undone they give the former root. `is_first`:
  /// nothing is known of the repository, then `prevData` may be missing.
  Result<void> check_ops(const event::RepoClaim& claim, const repo::LoadedCar& car,
                         const repo::Commit& commit, bool is_first);

 private:
  /// Whether the repository was empty before a message that passed `check_ops`.
  static bool was_empty_before(const event::DecodedFrame& frame, const repo::LoadedCar& car,
                               const repo::Commit& commit);

  Level level_;
  std::vector<std::string_view> paths_;
};

}  // namespace skua::verify
