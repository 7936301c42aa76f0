#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/account_number.hpp"
#include "base/guarded.hpp"
#include "base/seeded_hash.hpp"
#include "base/shares.hpp"
#include "base/time.hpp"
#include "ids/id_cache.hpp"
#include "postgres/session.hpp"

namespace skua::ids {

/// The share of each account of new account numbers: the accounts that its live records mention for
/// the first time. Without it an account could use up numbers with DIDs that do not exist. An
/// account that follows as many others as its host permits in a day stays within the share. Any
/// thread.
class NumberShares {
 public:
  static constexpr Share kOfAccount{.burst = 10'000, .every = std::chrono::seconds(5)};

  /// False: the account has used up its share.
  bool take(std::string_view did, std::size_t numbers) {
    const std::scoped_lock lock(mutex_);
    return shares_.take(did, numbers, monotonic_clock().now());
  }

 private:
  std::mutex mutex_;
  Shares shares_{kOfAccount};
};

/// Numbers for new accounts, drawn from the database before their rows exist, as COPY needs them.
/// Numbers that are given back serve the next call. Any thread.
class ActorNumbers {
 public:
  /// Returns `count` numbers that no other caller has. Throws postgres::SqlError.
  std::vector<AccountNumber> take(postgres::Session& session, std::size_t count);
  /// Takes back numbers that certainly no row has.
  void give_back(std::span<const AccountNumber> numbers);
  /// Call it after a COPY with `numbers` conflicted with a row. Takes the numbers back unless a row
  /// has one of them. In that case the sequence is behind the accounts: raises it, and drops all
  /// numbers that were drawn, because they would conflict again. Throws postgres::SqlError.
  void give_back_after_conflict(postgres::Session& session, std::span<const AccountNumber> numbers);

 private:
  Guarded<std::vector<AccountNumber>> spare_;
};

/// Moves the sequence of account numbers to the greatest number that an account has, if it is
/// behind this number, as after a restore of the rows alone. No session draws a number meanwhile.
/// Returns whether it moved. Call it outside of a transaction. Throws postgres::SqlError.
bool raise_actor_sequence(postgres::Session& session);

using ActorIds = boost::unordered_flat_map<std::string_view, AccountNumber, SeededHash>;
using ActorClaims = Claims<std::string, std::string_view, SeededHash>;

struct FoundActors {
  ActorIds ids;
  /// Many that got their rows in this call: in no other row does one of these ids stand yet, but
  /// for what others wrote since. Sorted.
  std::vector<AccountNumber> inserted;
};

/// Reads all of `bsky.actors` into the cache if they fit, a million in half a second, over two
/// sessions of its own: from then on most accounts need not be looked up, nor those that
/// are new. A sequence of their numbers that stands behind them is moved first. Throws
/// postgres::SqlError.
void fill_with_actors(const std::string& database_url, IdCache& cache);

/// The ids of accounts that the cache lacks, from `bsky.actors`, where those that are new get a
/// row; the cache then has them. `missing` is sorted and without doubles. Outside any transaction:
/// rows are committed before an id leaves. Throws postgres::SqlError; may then be called again.
FoundActors find_or_insert_actors(postgres::Session& session, IdCache& cache, ActorClaims& claims,
                                  ActorNumbers& numbers, std::span<const std::string_view> missing,
                                  Timestamp now);

}  // namespace skua::ids
