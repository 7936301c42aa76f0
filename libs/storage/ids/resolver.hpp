#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/account_number.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "ids/actor_ids.hpp"
#include "ids/id_cache.hpp"
#include "ids/record_keys.hpp"
#include "postgres/session.hpp"
#include "tables/collection_ids.hpp"

namespace skua::ids {

/// The state that the resolvers of a process share. Any thread may use it.
struct SharedIds {
  /// The number of accounts that fit before the tables of the cache double once more. A full cache
  /// takes 100 MB.
  static constexpr std::size_t kActors = 3'400'000;
  static constexpr std::size_t kPosts = 2'000'000;

  IdCache actors{kActors};
  KnownPosts posts{kPosts};
  tables::CollectionIds collections;
  ActorClaims claims;
  ActorNumbers numbers;
  PostClaims post_claims;
  NumberShares number_shares;
};

/// Returns the posts that get rows from these resolved events. A worker that writes these posts
/// with COPY claims them first, so that no other worker inserts a stub for one of them at the same
/// time.
std::vector<KnownPosts::Key> posts_written_by(std::span<const event::ResolvedEvent* const> events);

/// An event that must not become a row. Either the number of one of its record keys already stands
/// for another text, or its account has used up its share of new account numbers, or its account
/// has a group that the database does not own.
struct Conflict {
  std::size_t index = 0;  // index in the batch
  std::string reason;
};

/// Assigns numbers to all accounts, collections and record keys in events, including the references
/// of records. It inserts rows for new accounts and record keys, and stubs for unknown posts,
/// sorted and in short transactions of their own. A resolver is cheap to create: each batch has
/// one. It is used on the thread of its session.
class Resolver {
 public:
  Resolver(postgres::Session& session, SharedIds& ids, const Clock& clock)
      : session_(session), ids_(ids), clock_(clock) {}

  /// Fills `events` in place, and skips rejections. Call it outside of a transaction. Throws
  /// postgres::SqlError. After an exception the events are unchanged or complete, the stored rows
  /// are correct, and the call may be repeated. The conflicts are sorted by index, with at most one
  /// for each event.
  std::vector<Conflict> resolve(std::span<event::ResolvedEvent> events);
  /// Resolves events that are not adjacent in memory.
  using Events = std::span<event::ResolvedEvent* const>;
  std::vector<Conflict> resolve(Events events);

 private:
  /// Assigns the account numbers that the cache has. Returns whether all accounts have a number.
  bool find_known(Events events);
  /// Returns a conflict for each event that mentions more new accounts than the share of its
  /// account permits.
  std::vector<Conflict> beyond_share(Events events);
  std::vector<Conflict> resolve_all(Events events);
  /// Sets the account numbers of the events. Returns FoundActors::inserted.
  std::vector<AccountNumber> resolve_actors(Events events);
  /// Returns a conflict for each event of an account of another group. Sources and backfills leave
  /// such events out before, so there should be none.
  std::vector<Conflict> foreign(Events events);
  /// Sets the collection numbers of the events. Returns a conflict for each event that names a
  /// collection whose number another one has.
  std::vector<Conflict> resolve_collections(Events events);
  std::vector<Conflict> resolve_keys(Events events);
  void insert_stubs(Events events, const std::vector<Conflict>& conflicts,
                    std::span<const AccountNumber> new_actors);

  postgres::Session& session_;
  SharedIds& ids_;
  const Clock& clock_;
};

}  // namespace skua::ids
