#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "writer/handle_claims.hpp"

namespace skua::writer::handle_claims_model_test {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

const Names kNames = {"x.example", "y.example", "z.example"};

class HandleClaimsModelTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::vector<AccountNumber> make_accounts(int count) {
    session().run(
        fmt::format("INSERT INTO bsky.actors (did, indexed_at) SELECT 'did:plc:' || n, "
                    "now() FROM generate_series(1, {}) n",
                    count));
    std::vector<AccountNumber> ids;
    const postgres::Rows rows = session().run("SELECT id FROM bsky.actors ORDER BY id");
    for (std::size_t i = 0; i < rows.size(); ++i) ids.push_back(rows.int8(i, 0));
    return ids;
  }
  static std::size_t write(postgres::Session& session, const std::vector<HandleClaim>& claims,
                           Timestamp now) {
    postgres::Transaction transaction(session);
    Effects effects;
    const std::size_t rows = write_handle_claims(session, claims, now, effects);
    effects.finish(session);
    transaction.commit();
    return rows;
  }
  std::string actors() {
    return value("SELECT string_agg(t::text, E'\n' ORDER BY id) FROM bsky.actors t");
  }
  /// What holds at any moment.
  void expect_sound() {
    EXPECT_EQ(value("SELECT handle FROM bsky.actors WHERE handle IS NOT NULL GROUP BY handle "
                    "HAVING count(*) > 1"),
              "")
        << "two have it";
    EXPECT_EQ(value("SELECT id FROM bsky.actors WHERE handle IS DISTINCT FROM handle_claim AND "
                    "handle IS NOT NULL OR handle_valid AND handle IS NULL OR NOT handle_valid AND "
                    "handle IS NOT NULL OR handle_claim IS NOT NULL AND handle_valid IS NULL AND "
                    "handle_check_due IS NULL OR handle_claim IS NULL AND "
                    "handle_check_due IS NOT NULL"),
              "")
        << actors();
  }
};

/// Claims and look-ups as they come, beside what is true of the network and what was said last.
class HandlesInAnyOrder : public HandleClaimsModelTest,
                          public testing::WithParamInterface<unsigned> {
 protected:
  struct Account {
    std::string claims;  // by its newest claim; empty: none
    Timestamp claimed_at{};
    int told = 0;  // the step in which that was written
  };

  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

  /// Some time, never one that was used before: claims of one instant have an order of their own.
  Timestamp event_time() {
    Timestamp time = clock_.now();
    if (chance(40)) time -= std::chrono::seconds(below(7'200));
    if (chance(5)) time += std::chrono::seconds(below(600));
    while (!times_.insert(time).second) time += 1us;
    return time;
  }
  void tell(std::vector<HandleClaim> claims) {
    const auto owners =
        "SELECT string_agg(id || ' ' || handle, ',' ORDER BY id) FROM bsky.actors "
        "WHERE handle_valid AND id <> ALL('{" +
        ids_of(claims) + "}')";
    const std::string before = value(owners);
    write(session(), claims, clock_.now());
    EXPECT_EQ(value(owners), before) << "a claim alone takes nothing from those that are right";
    for (const HandleClaim& claim : claims) {
      Account& account = accounts_[claim.actor_id];
      if (claim.time > account.claimed_at) account = {claim.handle, claim.time, step_};
    }
    told_.push_back(std::move(claims));
  }
  static std::string ids_of(const std::vector<HandleClaim>& claims) {
    std::string ids;
    for (const HandleClaim& claim : claims) {
      ids += (ids.empty() ? "" : ",") + std::to_string(claim.actor_id);
    }
    return ids;
  }
  void tell_some() {
    std::vector<AccountNumber> ids = ids_;
    std::shuffle(ids.begin(), ids.end(), random_);
    ids.resize(1 + below(3));
    std::vector<HandleClaim> claims;
    for (const AccountNumber id : ids) {
      claims.push_back({id, chance(10) ? "" : kNames[below(kNames.size())], event_time()});
    }
    tell(std::move(claims));
  }
  void tell_again() {
    if (told_.empty()) return;
    const std::string before = actors();
    EXPECT_EQ(write(session(), told_[below(told_.size())], clock_.now()), 0U);
    EXPECT_EQ(actors(), before);
  }
  /// A name leads to another account from now on, or to none.
  void change_truth() {
    const std::string& name = kNames[below(kNames.size())];
    const AccountNumber before = owners_[name];
    const AccountNumber after = chance(15) ? 0 : ids_[below(ids_.size())];
    if (before == after) return;
    owners_[name] = after;
    changed_[{before, name}] = changed_[{after, name}] = step_;
  }
  CheckedHandle ask(const DueHandle& due) { return {due, owners_[due.handle] == due.actor_id}; }
  void take_some() {
    for (const DueHandle& due : due_handles(session(), clock_.now(), 1 + below(4))) {
      asked_.push_back(ask(due));
      if (chance(15)) asked_.back().is_valid.reset();
    }
  }
  void write_some() {
    std::shuffle(asked_.begin(), asked_.end(), random_);
    std::vector<CheckedHandle> batch;
    const std::size_t most = 1 + below(4);
    for (std::size_t i = 0; i < asked_.size() && batch.size() < most;) {
      // A batch has one claim for each account, as in HandleVerifier.
      if (std::any_of(batch.begin(), batch.end(), [&](const CheckedHandle& one) {
            return one.claim.actor_id == asked_[i].claim.actor_id;
          })) {
        ++i;
        continue;
      }
      batch.push_back(asked_[i]);
      asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    write_checked_handles(session(), batch, clock_.now());
  }
  void crash() {
    if (!asked_.empty()) asked_.resize(below(asked_.size()));
  }
  void do_something() {
    ++step_;
    clock_.advance(1us);
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return tell_some();
      case 3:
        return tell_again();
      case 4:
        return change_truth();
      case 5:
      case 6:
      case 7:
        return take_some();
      case 8:
      case 9:
        return write_some();
      case 10:
        return chance(30) ? crash() : write_some();
      default:
        clock_.advance(std::chrono::seconds(below(120)));
    }
  }

  int changed_at(AccountNumber id, const std::string& name) {
    const auto place = changed_.find({id, name});
    return place == changed_.end() ? 0 : place->second;
  }
  /// A changed name is noticed when a message of an affected account comes: of its new owner, or of
  /// its former owner if the new one does not claim it.
  void announce_changes() {
    ++step_;
    const auto announce = [&](AccountNumber id) {
      clock_.advance(1h);
      tell({{id, accounts_[id].claims, clock_.now()}});
    };
    for (const std::string& name : kNames) {
      const AccountNumber owner = owners_[name];
      const bool is_claimed = owner != 0 && accounts_[owner].claims == name;
      if (is_claimed && accounts_[owner].told < changed_at(owner, name)) announce(owner);
      for (const AccountNumber id : ids_) {
        const int changed = changed_at(id, name);
        if (id == owner || accounts_[id].claims != name || accounts_[id].told >= changed) continue;
        if (!is_claimed || accounts_[owner].told < changed || chance(30)) announce(id);
      }
    }
  }
  /// Everything that is due is looked up, until nothing is.
  void settle() {
    for (int round = 0; round < 50; ++round) {
      write_while_any_is_asked();
      clock_.advance(24h);
      for (const DueHandle& due : due_handles(session(), clock_.now(), 100)) {
        asked_.push_back(ask(due));
      }
      if (asked_.empty()) return;
    }
    ADD_FAILURE() << "it does not come to rest:\n" << actors();
  }
  void write_while_any_is_asked() {
    while (!asked_.empty()) {
      clock_.advance(1us);
      write_some();
      expect_sound();
    }
  }

  std::mt19937 random_{GetParam()};
  test::ManualClock clock_;
  std::vector<AccountNumber> ids_;
  std::map<AccountNumber, Account> accounts_;
  std::map<std::string, AccountNumber> owners_;
  std::map<std::pair<AccountNumber, std::string>, int> changed_;  // when, by step
  std::set<Timestamp> times_;
  std::vector<std::vector<HandleClaim>> told_;
  std::vector<CheckedHandle> asked_;
  int step_ = 0;
};

TEST_P(HandlesInAnyOrder, end_with_whoever_is_right) {
  ids_ = make_accounts(4 + static_cast<int>(below(3)));
  for (const std::string& name : kNames) owners_[name] = ids_[below(ids_.size())];
  for (int i = 0; i < 250 && !HasFailure(); ++i) {
    do_something();
    expect_sound();
  }
  announce_changes();
  expect_sound();
  settle();
  for (const auto& [id, account] : accounts_) {
    std::string expected = "- -";
    if (!account.claims.empty()) {
      expected = owners_[account.claims] == id ? account.claims + " t" : "- f";
    }
    EXPECT_EQ(value(fmt::format("SELECT concat_ws(' ', coalesce(handle, '-'), "
                                "coalesce(left(handle_valid::text, 1), '-')) "
                                "FROM bsky.actors WHERE id = {}",
                                id)),
              expected)
        << id << " claims " << account.claims;
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, HandlesInAnyOrder, testing::Range(1U, 13U));

// --- at the same time

class HandlesAtTheSameTime : public HandleClaimsModelTest {
 protected:
  /// A session that sees a deadlock at once.
  std::unique_ptr<postgres::Session> connect() {
    auto session = std::make_unique<postgres::Session>(database_.url(), "other");
    session->run("SET deadlock_timeout = '5ms'");
    return session;
  }
  /// Runs `write` several times, and counts the deadlocks.
  template <class Write>
  std::jthread many_times(int times, Write write) {
    return std::jthread([this, times, write = std::move(write)]() mutable {
      const auto session = connect();
      for (int i = 0; i < times; ++i) {
        try {
          write(*session, i);
        } catch (const postgres::ServerError& error) {
          EXPECT_EQ(error.sqlstate(), "40P01") << error.what();
          deadlocks_ += 1;
        }
      }
    });
  }

  test::ManualClock clock_;
  std::atomic<int> deadlocks_ = 0;
};

/// A worker, of whose accounts no other writes the claims.
class Claimer {
 public:
  Claimer(std::vector<AccountNumber> ids, unsigned seed) : ids_(std::move(ids)), random_(seed) {}

  void operator()(postgres::Session& session, Timestamp now) {
    std::vector<HandleClaim> claims;
    for (const AccountNumber id : ids_) {
      if (random_() % 3 != 0) claims.push_back({id, kNames[random_() % kNames.size()], now});
    }
    postgres::Transaction transaction(session);
    Effects effects;
    write_handle_claims(session, claims, now, effects);
    effects.finish(session);
    transaction.commit();
  }

 private:
  std::vector<AccountNumber> ids_;
  std::mt19937 random_;
};

TEST_F(HandlesAtTheSameTime, claims_and_results_leave_one_owner_and_never_wait_for_each_other) {
  const auto ids = make_accounts(6);
  std::atomic<int> written = 0;
  {
    const auto claiming = [&](std::vector<AccountNumber> of, unsigned seed) {
      return many_times(
          400, [&, claim = Claimer(std::move(of), seed)](auto& session, int /*i*/) mutable {
            clock_.advance(1us);
            claim(session, clock_.now());
          });
    };
    const std::jthread one = claiming({ids[0], ids[2], ids[5]}, 1);
    const std::jthread other = claiming({ids[1], ids[3], ids[4]}, 2);
    const std::jthread checking =
        many_times(400, [&, random = std::mt19937(3)](auto& session, int /*i*/) mutable {
          clock_.advance(1us);
          std::vector<CheckedHandle> checked;
          for (DueHandle& due : due_handles(session, clock_.now(), 100)) {
            checked.push_back({std::move(due), random() % 2 == 0});
          }
          std::shuffle(checked.begin(), checked.end(), random);
          write_checked_handles(session, checked, clock_.now());
          written += static_cast<int>(checked.size());
        });
    const std::jthread watching = many_times(200, [](auto& session, int /*i*/) {
      EXPECT_TRUE(session
                      .run("SELECT handle FROM bsky.actors WHERE handle IS NOT NULL "
                           "GROUP BY handle HAVING count(*) > 1")
                      .empty());
    });
  }
  EXPECT_GT(written, 0);
  EXPECT_EQ(deadlocks_, 0);
  expect_sound();
}

}  // namespace
}  // namespace skua::writer::handle_claims_model_test
