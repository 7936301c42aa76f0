#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/account_number.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "resolve/actor_numbers.hpp"
#include "resolve/claims.hpp"
#include "resolve/id_cache.hpp"
#include "store/session.hpp"

namespace skua::resolve {

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
/// store::SqlError.
void fill_with_actors(const std::string& database_url, IdCache& cache);

/// The ids of accounts that the cache lacks, from `bsky.actors`, where those that are new get a
/// row; the cache then has them. `missing` is sorted and without doubles. Outside any transaction:
/// rows are committed before an id leaves. Throws store::SqlError; may then be called again.
FoundActors find_or_insert_actors(store::Session& session, IdCache& cache, ActorClaims& claims,
                                  ActorNumbers& numbers, std::span<const std::string_view> missing,
                                  Timestamp now);

}  // namespace skua::resolve
