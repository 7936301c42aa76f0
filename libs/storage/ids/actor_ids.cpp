#include "ids/actor_ids.hpp"

#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "atproto/account_group.hpp"
#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "ids/actor_ids.sql.hpp"
#include "ids/record_keys.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/sql_error.hpp"

namespace skua::ids {

namespace {

struct NumberedAccount {
  AccountNumber id;
  std::string did;
};

/// The row of actors_newest.
struct NewestNumbers {
  std::int64_t drawn;
  AccountNumber number;
};

/// Moves the accounts of an answer from `missing` to `found`, and adds them to the cache.
void take(const std::vector<NumberedAccount>& rows, std::vector<std::string_view>& missing,
          IdCache& cache, ActorIds& found) {
  ActorIds ids;
  for (const NumberedAccount& row : rows) ids.emplace(row.did, row.id);
  std::erase_if(missing, [&](std::string_view did) {
    const auto place = ids.find(did);
    if (place == ids.end()) return false;
    found.emplace(did, place->second);
    cache.insert(did, place->second);
    return true;
  });
}

void find(postgres::Session& session, std::vector<std::string_view>& missing, IdCache& cache,
          ActorIds& found) {
  if (missing.empty()) return;
  take(session.query<NumberedAccount>(sql::actors_find, missing), missing, cache, found);
}

/// Moves accounts that another thread has added to the cache from `missing` to `found`.
void take_known(std::vector<std::string_view>& missing, IdCache& cache, ActorIds& found) {
  std::erase_if(missing, [&](std::string_view did) {
    const AccountNumber id = cache.find(did);
    if (id != 0) found.emplace(did, id);
    return id != 0;
  });
}

/// Throws postgres::DataError if another account has the number that a node computes for one of
/// `dids`.
void refuse_taken_number(postgres::Session& session, const atproto::NumberKey& key,
                         std::span<const std::string_view> dids) {
  const auto ids = postgres::column(
      dids, [&](std::string_view did) { return atproto::computed_account_number(key, did); });
  for (const auto& [id, owner] : session.query<NumberedAccount>(sql::actors_with_numbers, ids)) {
    for (const std::string_view did : dids) {
      if (did == owner || atproto::computed_account_number(key, did) != id) continue;
      postgres::throw_sql_error(
          "the account '" + std::string(did) + "' has the number of '" + owner + "'", "22021");
    }
  }
}

/// Inserts the accounts `mine`, which are sorted and had no row. Moves the accounts that it
/// inserted to `found`.
void insert(postgres::Session& session, std::vector<std::string_view>& mine, IdCache& cache,
            ActorNumbers& numbers, ActorIds& found, Timestamp now) {
  const auto insert_mine = [&] {
    return session.query<NumberedAccount>(sql::actors_insert, mine, now);
  };
  try {
    take(insert_mine(), mine, cache, found);
  } catch (const postgres::DataError& error) {
    if (error.sqlstate() != postgres::kUniqueViolation) throw;
    if (const auto key = numbers.scheme(session).key) {
      refuse_taken_number(session, *key, mine);
      throw;
    }
    // The number conflicts, not the DID, because the statement skips DIDs that have a row. Another
    // session may have raised the sequence before this session does.
    raise_actor_sequence(session);
    take(insert_mine(), mine, cache, found);
  }
}

/// Lets the other nodes know the accounts that they own. This comes before the rows, because a
/// process that stops in between does it again.
void announce(postgres::Session& session, std::span<const std::string_view> dids,
              ActorNumbers& numbers) {
  const ActorNumbers::Scheme scheme = numbers.scheme(session);
  if (!scheme.key) return;
  std::vector<std::string_view> foreign;
  for (const std::string_view did : dids) {
    if (!scheme.groups.owned.has_account(did)) foreign.push_back(did);
  }
  if (!foreign.empty()) session.execute(sql::actors_announce, foreign);
}

/// Inserts many accounts. Their numbers are drawn in advance, so a row costs half as much as with
/// `insert`. Returns false and inserts none if another process has inserted one of them, or if a
/// DID contains a NUL.
bool copy(postgres::Session& session, std::vector<std::string_view>& mine, IdCache& cache,
          ActorNumbers& numbers, FoundActors& found, Timestamp now) {
  const std::vector<AccountNumber> ids = numbers.take(session, mine);
  postgres::CopyRows rows(3);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    rows.row();
    rows.int8(ids[i]);
    rows.text(mine[i]);
    rows.timestamp(now);
  }
  if (rows.nuls_removed() > 0) {
    // COPY would store a DID without its NULs. The caller then uses INSERT instead, and refuses
    // each DID that it does not find after the INSERT.
    numbers.give_back(ids);
    return false;
  }
  try {
    session.copy("bsky.actors", "id, did, indexed_at", rows);
  } catch (const postgres::DataError& error) {
    if (error.sqlstate() != postgres::kUniqueViolation) {
      numbers.give_back(ids);
      throw;
    }
    numbers.give_back_after_conflict(session, ids);
    return false;
  }
  for (std::size_t i = 0; i < mine.size(); ++i) {
    found.ids.emplace(mine[i], ids[i]);
    cache.insert(mine[i], ids[i]);
  }
  found.inserted.insert(found.inserted.end(), ids.begin(), ids.end());
  mine.clear();
  return true;
}

/// Reads the accounts whose numbers are greater than `after` and at most `last`.
void read_between(postgres::Session& session, IdCache& cache, AccountNumber after,
                  AccountNumber last) {
  while (true) {
    // The loop reads views of the texts, not strings, because a start reads millions of rows.
    const postgres::Rows rows = session.execute(sql::actors_all, after, last);
    if (rows.empty()) return;
    for (std::size_t i = 0; i < rows.size(); ++i) cache.insert(rows.text(i, 1), rows.int8(i, 0));
    after = rows.int8(rows.size() - 1, 0);
  }
}

}  // namespace

ActorNumbers::Scheme ActorNumbers::scheme(postgres::Session& session) {
  const auto known = scheme_.with([](const auto& scheme) { return scheme; });
  if (known) return *known;
  const Scheme loaded{tables::load_account_groups(session), tables::load_number_key(session)};
  scheme_.with([&](auto& scheme) { scheme = loaded; });
  return loaded;
}

std::vector<AccountNumber> ActorNumbers::take(postgres::Session& session,
                                              std::span<const std::string_view> dids) {
  const Scheme scheme = this->scheme(session);
  std::vector<AccountNumber> numbers;
  if (scheme.key) {
    for (const std::string_view did : dids) {
      numbers.push_back(atproto::computed_account_number(*scheme.key, did));
    }
    return numbers;
  }
  numbers = draw(session, dids.size());
  if (!scheme.groups.numbers_have_group) return numbers;
  for (std::size_t i = 0; i < dids.size(); ++i) {
    numbers[i] = number_in_group(atproto::account_group(dids[i]), numbers[i]);
  }
  return numbers;
}

std::vector<AccountNumber> ActorNumbers::draw(postgres::Session& session, std::size_t count) {
  std::vector<AccountNumber> numbers = spare_.with([&](std::vector<AccountNumber>& spare) {
    const auto taken = static_cast<std::ptrdiff_t>(std::min(count, spare.size()));
    std::vector<AccountNumber> some(spare.end() - taken, spare.end());
    spare.erase(spare.end() - taken, spare.end());
    return some;
  });
  if (numbers.size() == count) return numbers;
  try {
    const auto drawn = session.query<AccountNumber>(sql::actors_draw, count - numbers.size());
    numbers.insert(numbers.end(), drawn.begin(), drawn.end());
  } catch (const postgres::SqlError&) {
    give_back(numbers);
    throw;
  }
  return numbers;
}

bool ActorNumbers::are_computed() {
  return scheme_.with([](const auto& scheme) { return scheme && scheme->key; });
}

void ActorNumbers::give_back(std::span<const AccountNumber> numbers) {
  if (are_computed()) return;
  spare_.with([&](std::vector<AccountNumber>& spare) {
    for (const AccountNumber number : numbers) spare.push_back(drawn_of(number));
  });
}

void ActorNumbers::give_back_after_conflict(postgres::Session& session,
                                            std::span<const AccountNumber> numbers) {
  if (are_computed()) return;
  if (!session.query_one<bool>(sql::actors_any_taken, numbers)) {
    give_back(numbers);
    return;
  }
  spare_.with([](std::vector<AccountNumber>& spare) { spare.clear(); });
  raise_actor_sequence(session);
}

bool raise_actor_sequence(postgres::Session& session) {
  if (!session.execute(sql::actors_sequence_is_behind, {}).boolean(0, 0)) return false;
  postgres::Transaction transaction(session);
  // This statement changes nothing, but takes the lock that every nextval waits for. No session can
  // therefore draw a number between the read of the last value and the move of the sequence.
  session.run("ALTER SEQUENCE bsky.actors_id_seq NO CYCLE");
  const postgres::Rows moved = session.execute(sql::actors_sequence_raise, {});
  transaction.commit();
  if (moved.empty()) return false;
  logger("store")->warn(
      "the sequence of account numbers was behind the accounts, as after a restore; it continues "
      "after {}",
      moved.int8(0, 0));
  return true;
}

void fill_with_actors(const std::string& database_url, IdCache& cache) {
  const auto connect = [&] {
    return std::make_unique<postgres::Session>(database_url, postgres::process_name("skua ids"));
  };
  const auto session = connect();
  raise_actor_sequence(*session);
  const auto newest = session->query_one<NewestNumbers>(sql::actors_newest);
  if (static_cast<std::size_t>(newest.drawn) > cache.room()) return;
  // The flag is set before the first read, because the cache clears the flag when it drops an
  // entry.
  cache.set_holds_all(true);
  // Two sessions read one half each, so that the server reads while this process stores an answer.
  const AccountNumber middle = newest.number / 2;
  auto newer = std::async(std::launch::async, [&] {
    read_between(*connect(), cache, middle, std::numeric_limits<AccountNumber>::max());
  });
  read_between(*session, cache, 0, middle);
  newer.get();
}

FoundActors find_or_insert_actors(postgres::Session& session, IdCache& cache, ActorClaims& claims,
                                  ActorNumbers& numbers, std::span<const std::string_view> missing,
                                  Timestamp now) {
  FoundActors found;
  std::vector<std::string_view> wanted(missing.begin(), missing.end());
  while (!wanted.empty()) {
    std::vector<std::string_view> others;
    {
      const ActorClaims::Held held(claims, wanted);
      std::vector<std::string_view> mine = held.mine();
      others = held.others();
      // The look-up follows the claim, so it sees the rows of earlier claims, which are committed.
      if (cache.holds_all()) {
        take_known(mine, cache, found.ids);
      } else {
        find(session, mine, cache, found.ids);
      }
      if (!mine.empty()) {
        announce(session, mine, numbers);
        crash_point("before_stubs");
        // An account that `copy` leaves in `mine` may have been inserted by another process, so the
        // accounts are looked up again.
        if (mine.size() >= kWorthCopying && !copy(session, mine, cache, numbers, found, now)) {
          cache.set_holds_all(false);
          find(session, mine, cache, found.ids);
        }
        if (!mine.empty()) insert(session, mine, cache, numbers, found.ids, now);
        crash_point("after_stubs");
        find(session, mine, cache, found.ids);
      }
      if (!mine.empty()) {
        postgres::throw_sql_error(
            "the account '" + std::string(mine.front()) + "' cannot be stored under its name",
            "22021");
      }
    }
    claims.wait_for(others);
    wanted.clear();
    for (const std::string_view did : others) {
      if (const AccountNumber id = cache.find(did); id != 0) {
        found.ids.emplace(did, id);
      } else {
        wanted.push_back(did);
      }
    }
  }
  std::sort(found.inserted.begin(), found.inserted.end());
  return found;
}

}  // namespace skua::ids
