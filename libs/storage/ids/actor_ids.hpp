#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "atproto/computed_number.hpp"
#include "base/account_number.hpp"
#include "base/guarded.hpp"
#include "base/seeded_hash.hpp"
#include "base/shares.hpp"
#include "base/time.hpp"
#include "ids/id_cache.hpp"
#include "postgres/session.hpp"
#include "tables/account_groups.hpp"

namespace skua::ids {

/// The share of each account of new account numbers. New numbers are for the accounts that its live
/// records mention for the first time. Without the share, an account could use up numbers with DIDs
/// that do not exist. An account that follows as many others as its host permits in a day stays
/// within the share. Any thread may use it.
class NumberShares {
 public:
  static constexpr Share kOfAccount{.burst = 10'000, .every = std::chrono::seconds(5)};

  /// Returns false if the account has used up its share.
  bool take(std::string_view did, std::size_t numbers) {
    const std::scoped_lock lock(mutex_);
    return shares_.take(did, numbers, monotonic_clock().now());
  }

 private:
  std::mutex mutex_;
  Shares shares_{kOfAccount};
};

/// Numbers for new accounts, before their rows exist, because COPY needs the numbers in the rows. A
/// node computes them. Other databases draw them from a sequence, and the next call uses numbers
/// that were given back. Any thread may use it.
class ActorNumbers {
 public:
  /// The properties of a database on which its numbers depend.
  struct Scheme {
    tables::AccountGroups groups;
    /// The key of a node; nothing if the database is no node.
    std::optional<atproto::NumberKey> key;

    /// Whether the database is a node and another node owns the account.
    bool is_of_other_node(AccountNumber account) const {
      return key && !groups.owned.has(groups.group_of(account));
    }
  };

  /// Returns the scheme of the database, which is read once. Throws postgres::SqlError.
  Scheme scheme(postgres::Session& session);
  /// Returns numbers for `dids` that no other caller has, in their order. Throws
  /// postgres::SqlError.
  std::vector<AccountNumber> take(postgres::Session& session,
                                  std::span<const std::string_view> dids);
  /// Takes back numbers, which a node ignores. The caller is certain that no row has them. Another
  /// account may get a number with the same value of the sequence, in its own group.
  void give_back(std::span<const AccountNumber> numbers);
  /// Call this function after a COPY with `numbers` conflicted with a row. If no row has one of the
  /// numbers, it takes them back. Otherwise the sequence is behind the accounts: the function
  /// raises the sequence, and drops all numbers that were drawn, because they would conflict again.
  /// Throws postgres::SqlError.
  void give_back_after_conflict(postgres::Session& session, std::span<const AccountNumber> numbers);

 private:
  /// Returns `count` values of the sequence that no other caller has.
  std::vector<AccountNumber> draw(postgres::Session& session, std::size_t count);

  bool are_computed();

  Guarded<std::optional<Scheme>> scheme_;
  /// Values of the sequence.
  Guarded<std::vector<AccountNumber>> spare_;
};

/// Raises the sequence of account numbers to the greatest of its values that an account has, if the
/// sequence is lower, for example after a restore of the rows alone. No session draws a number
/// during the move. Returns whether the sequence moved. Call it outside of a transaction. Throws
/// postgres::SqlError.
bool raise_actor_sequence(postgres::Session& session);

using ActorIds = boost::unordered_flat_map<std::string_view, AccountNumber, SeededHash>;
using ActorClaims = Claims<std::string, std::string_view, SeededHash>;

struct FoundActors {
  ActorIds ids;
  /// Sorted numbers of accounts that got their rows from a COPY of this call. No other row refers
  /// to them yet, except for rows that other sessions have written since the COPY.
  std::vector<AccountNumber> inserted;
};

/// If all of `bsky.actors` fits, reads it into the cache, a million rows in half a second, over two
/// sessions of its own. After that, most accounts need no look-up, not even new accounts. Before it
/// reads, it raises the sequence of account numbers if the sequence is behind the accounts. Throws
/// postgres::SqlError.
void fill_with_actors(const std::string& database_url, IdCache& cache);

/// Returns the ids of accounts that the cache lacks, from `bsky.actors`. Inserts rows for new
/// accounts, and adds all ids to the cache. `missing` is sorted and without duplicates. Call it
/// outside of a transaction, because the rows must be committed before an id is used. Throws
/// postgres::SqlError, and may then be called again.
FoundActors find_or_insert_actors(postgres::Session& session, IdCache& cache, ActorClaims& claims,
                                  ActorNumbers& numbers, std::span<const std::string_view> missing,
                                  Timestamp now);

}  // namespace skua::ids
