#include "writer/handle_claims.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "integration/account_events.hpp"
#include "postgres/locks.hpp"
#include "support/postgres.hpp"
#include "writer/account_changes.hpp"

namespace skua::writer::handle_claims_test {
namespace {

using namespace std::chrono_literals;
using event::UnresolvedEvent;
using test::claim;
using test::list;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kCarol = "did:plc:carol";

class HandlesTest : public test::AccountEventsTest {
 protected:
  std::string handle(const std::string& did) {
    return value("SELECT handle FROM bsky.actors WHERE did = '" + did + "'");
  }
  /// The handle that an account has, what its claim was seen to be, and when it is looked up.
  std::string state(const std::string& did) {
    return value(
        "SELECT concat_ws(' ', coalesce(handle, 'none'), CASE WHEN handle_valid THEN 'right' "
        "WHEN NOT handle_valid THEN 'wrong' ELSE 'unchecked' END, CASE "
        "WHEN handle_check_due > " +
        now() + " THEN 'due in ' || extract(epoch FROM handle_check_due - " + now() +
        ")::int8 || ' s' WHEN handle_check_due IS NOT NULL THEN 'due' END) "
        "FROM bsky.actors WHERE did = '" +
        did + "'");
  }
  std::string actors() {
    return value("SELECT string_agg(t::text, ';' ORDER BY id) FROM bsky.actors t");
  }
  std::vector<DueHandle> due(std::size_t limit = 100) {
    return due_handles(session(), clock_.now(), limit);
  }
  std::vector<std::string> due_dids(std::size_t limit = 100) {
    std::vector<std::string> dids;
    for (const DueHandle& one : due(limit)) dids.push_back(one.did);
    return dids;
  }
  DueHandle due_of(const std::string& did) {
    for (const DueHandle& one : due()) {
      if (one.did == did) return one;
    }
    ADD_FAILURE() << did << " is not due";
    return {};
  }
  void found(const DueHandle& claim, std::optional<bool> is_valid) {
    write_checked_handles(session(), std::vector{CheckedHandle{claim, is_valid}}, clock_.now());
  }
  void check(const std::string& did, std::optional<bool> is_valid) { found(due_of(did), is_valid); }
  /// Seconds of the clock, as events give them.
  int second() {
    return static_cast<int>(
        std::chrono::duration_cast<std::chrono::seconds>(clock_.now().time_since_epoch()).count());
  }

 private:
  std::string now() { return fmt::format("'{}'::timestamptz", format_datetime(clock_.now())); }
};

// --- locks

/// With the numbers that locks had once, a hash that everybody can compute, this handle had the one
/// that each run holds for as long as it reads a source. Such a handle is found in seconds.
TEST_F(HandlesTest, a_handle_that_was_chosen_to_meet_another_lock_does_not_wait_for_it) {
  const std::string chosen =
      "6dbemtbj3sidpf03zm1mtos6x4np6x4fn7z2qe41zpy0l9wn2jujj46."
      "4al0pxwbd8qol71uqn69ullr83hcg63nv3n7oty39otyk1oqcz6rwc9."
      "3bnd7yakygkzau83hrg88zk612lj09.ha08mpeggge91.test";
  postgres::Session run(database_.url(), "skua run");
  const postgres::SourceLock source(run, "relay:a.test");
  write(claim(kAlice, "first.example", 10));
  session().run("SET lock_timeout = '2s'");
  write(claim(kAlice, chosen, 20));
  EXPECT_EQ(handle(kAlice), chosen);
}

// --- claims

TEST_F(HandlesTest, the_newest_claim_wins_whatever_the_order) {
  std::vector<std::pair<std::string, int>> claims = {{kAlice, 10}, {kBob, 20}, {kCarol, 15}};
  std::sort(claims.begin(), claims.end());
  int round = 0;
  do {
    for (const bool at_once : {true, false}) {
      const std::string name = "name" + std::to_string(++round) + ".example";
      std::vector<UnresolvedEvent> batch;
      batch.reserve(claims.size());
      for (const auto& [did, second] : claims) {
        batch.push_back(claim(did, name, round * 100 + second));
      }
      if (at_once) {
        write(std::move(batch));
      } else {
        for (auto& event : batch) write(std::move(event));
      }
      EXPECT_EQ(value("SELECT string_agg(did, ' ') FROM bsky.actors WHERE handle = '" + name + "'"),
                kBob)
          << round;
      EXPECT_EQ(handle(kAlice) + handle(kCarol), "") << round;
      clock_.advance(1h);  // They may be looked up again.
    }
  } while (std::next_permutation(claims.begin(), claims.end()));
  EXPECT_EQ(round, 12);
}

TEST_F(HandlesTest, two_claims_of_one_instant_leave_one_owner) {
  for (const bool swapped : {false, true}) {
    const std::string name = swapped ? "one.example" : "two.example";
    const int second = swapped ? 20 : 10;
    write(claim(swapped ? kBob : kAlice, name, second));
    write(claim(swapped ? kAlice : kBob, name, second));
    EXPECT_EQ(value("SELECT count(*) FROM bsky.actors WHERE handle = '" + name + "'"), "1");
  }
}

TEST_F(HandlesTest, a_handle_can_come_back) {
  write(claim(kAlice, "x.example", 10));
  write(claim(kBob, "x.example", 20));
  write(claim(kAlice, "y.example", 30));
  EXPECT_EQ(handle(kAlice) + " " + handle(kBob), "y.example x.example");
  write(claim(kAlice, "x.example", 40), claim(kBob, "y.example", 41));
  EXPECT_EQ(handle(kAlice) + " " + handle(kBob), "x.example y.example");
  EXPECT_EQ(write_only(list(claim(kBob, "x.example", 20), claim(kAlice, "x.example", 10))).rows, 0U)
      << "a replay";
  EXPECT_EQ(handle(kAlice) + " " + handle(kBob), "x.example y.example");
}

TEST_F(HandlesTest, a_document_without_a_handle_takes_it_away) {
  write(claim(kAlice, "x.example", 10), claim(kBob, "y.example", 10));
  write(claim(kAlice, "", 20));
  write(claim(kBob, "", 21));
  EXPECT_EQ(value("SELECT count(*) FROM bsky.actors WHERE handle IS NULL AND handle_time IS NOT "
                  "NULL"),
            "2");
}

TEST_F(HandlesTest, claims_at_the_same_time_leave_one_owner) {
  write(claim(kAlice, "a.example", 1), claim(kBob, "b.example", 1));
  const auto of_alice = resolved(list(claim(kAlice, "x.example", 10)));
  const auto of_bob = resolved(list(claim(kBob, "x.example", 20)));
  postgres::Session other(database_.url(), "other");
  std::atomic<bool> ended = false;
  std::jthread thread;
  {
    postgres::Transaction open(session());
    Effects effects;
    write_account_changes(session(), std::vector{&of_alice.front()}, clock_.now(), effects);
    thread = std::jthread([&] {
      postgres::Transaction transaction(other);
      Effects effects_of_bob;
      write_account_changes(other, std::vector{&of_bob.front()}, clock_.now(), effects_of_bob);
      effects_of_bob.finish(other);
      transaction.commit();
      ended = true;
    });
    postgres::Session watching(database_.url(), "watching");
    while (!ended && !test::a_session_waits_for_a_lock(watching)) {
      std::this_thread::yield();
    }
    open.commit();
  }
  thread.join();
  EXPECT_EQ(value("SELECT string_agg(did, ' ') FROM bsky.actors WHERE handle = 'x.example'"), kBob);
}

// --- look-ups

TEST_F(HandlesTest, a_new_claim_counts_and_is_due_at_once) {
  const int claimed_at = second();
  write(claim(kAlice, "x.example", claimed_at));
  EXPECT_EQ(state(kAlice), "x.example unchecked due");
  const auto all = due();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(std::to_string(all[0].actor_id), value("SELECT id FROM bsky.actors"));
  EXPECT_EQ(all[0].did, kAlice);
  EXPECT_EQ(all[0].handle, "x.example");
  EXPECT_EQ(all[0].due, clock_.now());
  EXPECT_EQ(all[0].claimed_at, test::at(claimed_at));
}

TEST_F(HandlesTest, a_claim_that_is_seen_to_be_right_is_due_no_more) {
  write(claim(kAlice, "x.example", 10));
  check(kAlice, true);
  EXPECT_EQ(state(kAlice), "x.example right");
  clock_.advance(1'000h);
  EXPECT_TRUE(due().empty());
}

TEST_F(HandlesTest, a_claim_that_is_seen_to_be_wrong_gives_no_handle) {
  write(claim(kAlice, "x.example", 10));
  check(kAlice, false);
  EXPECT_EQ(state(kAlice), "none wrong");
  EXPECT_EQ(value("SELECT handle_claim FROM bsky.actors"), "x.example");
  clock_.advance(1'000h);
  EXPECT_TRUE(due().empty());
}

TEST_F(HandlesTest, a_refused_claim_that_is_made_again_is_looked_up_again_and_gives_none_before) {
  write(claim(kAlice, "x.example", 10));
  check(kAlice, false);
  write(claim(kAlice, "x.example", 11));
  EXPECT_EQ(state(kAlice), "none wrong due");
  check(kAlice, true);
  EXPECT_EQ(state(kAlice), "x.example right");
}

TEST_F(HandlesTest,
       a_claim_that_was_right_and_is_made_again_stays_right_until_it_is_seen_to_be_wrong) {
  write(claim(kAlice, "x.example", 10));
  check(kAlice, true);
  write(claim(kAlice, "x.example", 11));
  EXPECT_EQ(state(kAlice), "x.example right due");
  clock_.advance(1h);
  check(kAlice, std::nullopt);
  EXPECT_EQ(state(kAlice), "x.example right due in 86400 s");
  clock_.advance(24h);
  check(kAlice, false);
  EXPECT_EQ(state(kAlice), "none wrong");
}

TEST_F(HandlesTest, after_a_servers_failure_a_claim_counts_as_before_and_waits_longer_each_time) {
  const int claimed_at = second();
  write(claim(kAlice, "x.example", claimed_at), claim(kBob, "y.example", claimed_at));
  write(claim(kCarol, "y.example", claimed_at + 1));
  std::vector<long> waits;
  for (int i = 0; i < 11; ++i) {
    check(kAlice, std::nullopt);
    check(kBob, std::nullopt);
    EXPECT_EQ(handle(kAlice), "x.example");
    EXPECT_EQ(handle(kBob), "") << "somebody claimed it later";
    const auto wait = handle_check_delay(test::at(claimed_at), clock_.now());
    EXPECT_EQ(state(kAlice),
              "x.example unchecked due in " +
                  std::to_string(std::chrono::floor<std::chrono::seconds>(wait).count()) + " s");
    waits.push_back(std::chrono::floor<std::chrono::minutes>(wait).count());
    clock_.advance(wait - 1us);
    EXPECT_EQ(due_dids(), std::vector{kCarol});
    clock_.advance(1us);
  }
  EXPECT_EQ(waits, (std::vector<long>{1, 2, 6, 18, 54, 162, 486, 1'440, 1'440, 1'440, 1'440}));
  check(kAlice, true);
  EXPECT_EQ(state(kAlice), "x.example right");
}

struct Delay {
  const char* name;
  std::chrono::microseconds age;
  std::chrono::microseconds delay;
  friend std::ostream& operator<<(std::ostream& out, const Delay& each) { return out << each.name; }
};

class HandleCheckDelay : public testing::TestWithParam<Delay> {};

TEST_P(HandleCheckDelay, is_twice_the_age_from_a_minute_to_a_day) {
  const Timestamp now = test::at(1'000'000'000);
  EXPECT_EQ(handle_check_delay(now - GetParam().age, now), GetParam().delay);
}

INSTANTIATE_TEST_SUITE_P(Ages, HandleCheckDelay,
                         testing::Values(Delay{"new", 0s, 1min}, Delay{"half_a_minute", 30s, 1min},
                                         Delay{"a_little_more", 30s + 1us, 1min + 2us},
                                         Delay{"an_hour", 1h, 2h}, Delay{"half_a_day", 12h, 24h},
                                         Delay{"a_little_more_than_that", 12h + 1us, 24h},
                                         Delay{"thirty_years", 24h * 365 * 30, 24h},
                                         Delay{"from_the_future", -1h, 1min}),
                         [](const auto& test) { return test.param.name; });

/// What comes between a look-up and its result, and alice's state before and after each result.
struct Meanwhile {
  const char* name;
  const char* did;
  const char* handle;
  const char* before;
  const char* right;
  const char* wrong;
  const char* failed;
  friend std::ostream& operator<<(std::ostream& out, const Meanwhile& meanwhile) {
    return out << meanwhile.name;
  }
};

class LateResults : public HandlesTest, public testing::WithParamInterface<Meanwhile> {
 protected:
  void expect_after(std::optional<bool> result, const char* state_after) {
    const std::string suffix = result ? *result ? "-right" : "-wrong" : "-failed";
    const std::string alice = kAlice + suffix;
    const bool is_alice = GetParam().did == kAlice;
    const std::string name = suffix.substr(1) + "." + "x.example";
    const std::string handle = GetParam().handle;
    write(claim(alice, name, 10), claim(kBob + suffix, suffix.substr(1) + ".y.example", 10));
    const DueHandle asked = due_of(alice);
    clock_.advance(1s);
    write(claim(is_alice ? alice : kBob + suffix,
                handle.empty() ? "" : suffix.substr(1) + "." + handle, 20));
    EXPECT_EQ(state(alice), named(GetParam().before, suffix));
    found(asked, result);
    EXPECT_EQ(state(alice), named(state_after, suffix));
  }

 private:
  /// A state, with the handle that has the result's name in front.
  static std::string named(const std::string& state, const std::string& suffix) {
    return state.starts_with("none") ? state : suffix.substr(1) + "." + state;
  }
};

TEST_P(LateResults, count_for_what_was_looked_up) {
  expect_after(true, GetParam().right);
  expect_after(false, GetParam().wrong);
  expect_after(std::nullopt, GetParam().failed);
}

INSTANTIATE_TEST_SUITE_P(
    Claims, LateResults,
    testing::Values(Meanwhile{"changed", "did:plc:alice", "z.example", "z.example unchecked due",
                              "z.example unchecked due", "z.example unchecked due",
                              "z.example unchecked due"},
                    // Only a refusal counts: it may be right by now.
                    Meanwhile{"repeated", "did:plc:alice", "x.example", "x.example unchecked due",
                              "x.example unchecked due", "none wrong due",
                              "x.example unchecked due"},
                    Meanwhile{"abandoned", "did:plc:alice", "", "none unchecked", "none unchecked",
                              "none unchecked", "none unchecked"},
                    Meanwhile{"contested", "did:plc:bob", "x.example", "none unchecked due",
                              "x.example right", "none wrong", "none unchecked due in 86400 s"}),
    [](const auto& test) { return test.param.name; });

TEST_F(HandlesTest, a_result_that_comes_twice_counts_once) {
  write(claim(kAlice, "x.example", 10));
  const DueHandle asked = due_of(kAlice);
  found(asked, true);
  const std::string before = actors();
  for (const auto result : {std::optional(true), std::optional(false), std::optional<bool>()}) {
    found(asked, result);
    EXPECT_EQ(actors(), before);
  }
}

// --- contests

TEST_F(HandlesTest, a_false_claim_takes_no_handle_from_an_account_that_has_it_by_a_look_up) {
  write(claim(kAlice, "x.example", 10));
  check(kAlice, true);
  clock_.advance(1h);
  write(claim(kBob, "x.example", 20));
  EXPECT_EQ(state(kBob), "none unchecked due");
  EXPECT_EQ(state(kAlice), "x.example right");
  check(kBob, false);
  EXPECT_EQ(state(kBob), "none wrong");
  EXPECT_EQ(state(kAlice), "x.example right");
  EXPECT_TRUE(due().empty());
}

TEST_F(HandlesTest, a_handle_that_moved_has_its_new_owner_once_that_was_looked_up) {
  write(claim(kAlice, "x.example", 10));
  check(kAlice, true);
  write(claim(kBob, "x.example", 20));
  check(kBob, true);
  EXPECT_EQ(state(kBob), "x.example right");
  EXPECT_EQ(state(kAlice), "none unchecked due in 60 s");
}

TEST_F(HandlesTest, a_false_claim_takes_a_handle_that_nobody_has_by_a_look_up) {
  write(claim(kAlice, "x.example", 10));
  write(claim(kBob, "x.example", 20));
  EXPECT_EQ(state(kBob), "x.example unchecked due");
  EXPECT_EQ(state(kAlice), "none unchecked due");
  check(kBob, false);
  check(kAlice, true);
  EXPECT_EQ(state(kBob) + ", " + state(kAlice), "none wrong, x.example right");
}

/// The account repeats its claim between any two steps of its look-ups, so that no result is ever
/// about its newest claim.
TEST_F(HandlesTest, an_account_that_repeats_a_false_claim_never_has_the_handle) {
  write(claim(kAlice, "x.example", 10));
  check(kAlice, true);
  for (int i = 0; i < 200; ++i) {
    // In turn with a name of its own, which is right.
    write(claim(kBob, i % 5 == 4 ? "bob.example" : "x.example", 20 + 2 * i));
    EXPECT_EQ(state(kAlice), "x.example right") << i;
    const auto asked = due();
    write(claim(kBob, i % 5 == 4 ? "bob.example" : "x.example", 21 + 2 * i));
    EXPECT_EQ(state(kAlice), "x.example right") << i;
    for (const DueHandle& one : asked) found(one, one.handle == "bob.example");
    EXPECT_EQ(state(kAlice), "x.example right") << i;
    clock_.advance(7s);
  }
}

// --- limits

TEST_F(HandlesTest, an_account_gets_ten_look_ups_at_once_and_then_one_in_five_minutes) {
  for (const bool same : {true, false}) {
    const std::string did = same ? kAlice : kBob;
    const std::string name = did.substr(8);
    int lookups = 0;
    for (int second = 0; second < 3'600; ++second) {
      write(claim(did, same ? name + ".example" : fmt::format("{}{}.example", name, second % 2),
                  10 + second));
      for (const DueHandle& one : due()) {
        ++lookups;
        found(one, false);
      }
      clock_.advance(1s);
    }
    EXPECT_GE(lookups, 10) << did;
    EXPECT_LE(lookups, 10 + 12) << did;
    // It is looked up in the end.
    clock_.advance(1h);
    for (const DueHandle& one : due()) found(one, true);
    EXPECT_TRUE(due().empty());
    EXPECT_EQ(value("SELECT handle_valid FROM bsky.actors WHERE did = '" + did + "'"), "t");
    clock_.advance(24h);
  }
}

TEST_F(HandlesTest, look_ups_that_fail_are_limited_too) {
  int lookups = 0;
  for (int i = 0; i < 3'600; ++i) {
    write(claim(kAlice, "x.example", second()));
    for (const DueHandle& one : due()) {
      ++lookups;
      found(one, std::nullopt);
    }
    clock_.advance(1s);
  }
  EXPECT_GE(lookups, 5);
  EXPECT_LE(lookups, 10 + 12);
}

TEST_F(HandlesTest, an_account_without_look_ups_left_takes_no_handle_from_another) {
  for (int i = 0; i < 10; ++i) write(claim(kBob, fmt::format("bob{}.example", i), 10 + i));
  EXPECT_EQ(state(kBob), "bob9.example unchecked due");
  write(claim(kAlice, "x.example", 10));
  write(claim(kBob, "x.example", 30));
  EXPECT_EQ(state(kAlice), "x.example unchecked due");
  EXPECT_EQ(state(kBob), "none unchecked due in 300 s");
  // The account can have a handle that no other account has, like an account without look-ups.
  write(claim(kBob, "y.example", 31));
  EXPECT_EQ(handle(kBob), "y.example");
}

TEST_F(HandlesTest, refused_claims_are_looked_up_after_all_others) {
  write(claim(kBob, "x.example", 10));
  check(kBob, false);
  write(claim(kBob, "x.example", 11));
  clock_.advance(1h);
  write(claim(kAlice, "a.example", 20), claim(kCarol, "c.example", 20));
  EXPECT_EQ(due_dids().back(), kBob);
  EXPECT_EQ(due_dids().size(), 3U);
  EXPECT_EQ(due_dids(2).size(), 2U);
  EXPECT_EQ(std::ranges::count(due_dids(2), kBob), 0);
}

// --- contests between claims that are right

TEST_F(HandlesTest, who_is_seen_to_be_right_takes_it_from_a_later_claim) {
  write(claim(kAlice, "x.example", 10));
  write(claim(kBob, "x.example", 20));
  EXPECT_EQ(handle(kBob), "x.example");
  check(kAlice, true);
  EXPECT_EQ(state(kAlice), "x.example right");
  EXPECT_EQ(state(kBob), "none unchecked due in 60 s");
  clock_.advance(1min);
  check(kBob, false);
  EXPECT_EQ(state(kAlice) + ", " + state(kBob), "x.example right, none wrong");
}

TEST_F(HandlesTest, who_is_seen_to_be_right_takes_it_from_one_that_was_right_before) {
  write(claim(kBob, "x.example", 20));
  check(kBob, true);
  // Older, and told later.
  write(claim(kAlice, "x.example", 10));
  EXPECT_EQ(state(kAlice), "none unchecked due");
  EXPECT_EQ(state(kBob), "x.example right");
  check(kAlice, true);
  EXPECT_EQ(state(kAlice), "x.example right");
  EXPECT_EQ(state(kBob), "none unchecked due in 60 s");
}

TEST_F(HandlesTest, a_result_that_was_asked_before_another_was_seen_to_be_right_is_ignored) {
  write(claim(kAlice, "x.example", 10));
  write(claim(kBob, "x.example", 20));
  const DueHandle of_bob = due_of(kBob);
  check(kAlice, true);
  found(of_bob, true);
  EXPECT_EQ(state(kAlice) + ", " + state(kBob), "x.example right, none unchecked due in 60 s");
}

TEST_F(HandlesTest,
       of_two_that_are_seen_to_be_right_at_once_none_has_it_until_they_are_asked_again) {
  write(claim(kAlice, "x.example", 10));
  write(claim(kBob, "x.example", 20));
  write_checked_handles(
      session(),
      std::vector{CheckedHandle{due_of(kAlice), true}, CheckedHandle{due_of(kBob), true}},
      clock_.now());
  EXPECT_EQ(state(kAlice), "none unchecked due in 60 s");
  EXPECT_EQ(state(kBob), "none unchecked due in 60 s");
}

TEST_F(HandlesTest, two_that_are_right_in_turn_are_looked_up_ever_more_rarely) {
  write(claim(kAlice, "x.example", 10));
  write(claim(kBob, "x.example", 20));
  std::map<std::string, int> lookups;
  for (int second = 0; second < 1'800; second += 5) {
    for (const DueHandle& one : due()) {
      ++lookups[one.did];
      found(one, true);
    }
    EXPECT_EQ(value("SELECT count(*) FROM bsky.actors WHERE handle = 'x.example'"), "1");
    clock_.advance(5s);
  }
  for (const std::string& did : {kAlice, kBob}) {
    EXPECT_GE(lookups[did], 10) << "the account that is right has it soon";
    EXPECT_LE(lookups[did], 10 + 6);
  }
}

TEST_F(HandlesTest, an_account_that_claims_none_has_none_and_leaves_its_own_to_others) {
  write(claim(kAlice, "x.example", 10), claim(kBob, "", 10));
  check(kAlice, true);
  EXPECT_EQ(state(kBob), "none unchecked");
  write(claim(kAlice, "", 20));
  EXPECT_EQ(state(kAlice), "none unchecked");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.actors WHERE handle_claim IS NOT NULL"), "0");
  EXPECT_TRUE(due().empty());
  // An older claim wins, because the former owner no longer claims the handle.
  write(claim(kCarol, "x.example", 5));
  EXPECT_EQ(state(kCarol), "x.example unchecked due");
}

TEST_F(HandlesTest, those_that_are_due_come_oldest_first_and_no_more_than_wanted) {
  const std::vector<std::string> dids = {kCarol, kAlice, kBob};
  for (const std::string& did : dids) {
    write(claim(did, did.substr(8) + ".example", 10));
    clock_.advance(1us);
  }
  EXPECT_EQ(due_dids(), dids);
  EXPECT_EQ(due_dids(2), (std::vector{kCarol, kAlice}));
  EXPECT_EQ(due_dids(0), std::vector<std::string>{});
  check(kCarol, std::nullopt);
  EXPECT_EQ(due_dids(), (std::vector{kAlice, kBob}));
  clock_.advance(24h);
  EXPECT_EQ(due_dids(), (std::vector{kAlice, kBob, kCarol}));
}

// --- replays

TEST_F(HandlesTest, a_replay_changes_nothing_and_makes_nothing_due) {
  const auto history = [] {
    return list(claim(kAlice, "x.example", 10), claim(kBob, "x.example", 20),
                claim(kCarol, "y.example", 30), claim(kAlice, "y.example", 40), claim(kBob, "", 50),
                claim(kCarol, "x.example", 60), claim(kBob, "y.example", 70));
  };
  for (auto& event : history()) {
    write(std::move(event));
    clock_.advance(1s);
  }
  check(kAlice, true);
  clock_.advance(1h);
  check(kBob, false);
  check(kCarol, std::nullopt);
  const std::string before = actors();
  ASSERT_EQ(state(kAlice), "y.example right");
  clock_.advance(1us);
  for (auto& event : history()) {
    EXPECT_EQ(write_only(list(std::move(event))).rows, 0U);
    EXPECT_EQ(actors(), before);
  }
  EXPECT_EQ(write_only(history()).rows, 0U);
  EXPECT_EQ(actors(), before);
}

TEST_F(HandlesTest, a_replay_of_a_false_claim_does_not_take_the_handle_again) {
  write(claim(kAlice, "x.example", 10));
  write(claim(kBob, "x.example", 20));
  check(kBob, false);
  check(kAlice, true);
  clock_.advance(1h);
  EXPECT_EQ(write_only(list(claim(kBob, "x.example", 20))).rows, 0U);
  EXPECT_EQ(state(kAlice), "x.example right");
  EXPECT_EQ(state(kBob), "none wrong");
}

TEST_F(HandlesTest, a_claim_that_its_account_has_taken_back_already_is_no_contest) {
  write(claim(kAlice, "x.example", 10));
  check(kAlice, true);
  write(claim(kBob, "y.example", 30));
  EXPECT_EQ(write_only(list(claim(kBob, "x.example", 20))).rows, 0U);
  EXPECT_EQ(state(kAlice), "x.example right");
  EXPECT_EQ(state(kBob), "y.example unchecked due");
}

}  // namespace
}  // namespace skua::writer::handle_claims_test
