#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "base/random.hpp"
#include "consumers/consumer_judgement.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/leases/lease.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "consumers/log_maintenance.hpp"
#include "consumers/made_changes.hpp"
#include "consumers/tuning.hpp"
#include "postgres/connection_string.hpp"
#include "support/postgres.hpp"
#include "tables/dead_letters.hpp"

namespace skua::consumers::leases_test {
namespace {

const std::string kQuick =
    R"({"pause_ms": 0, "batch": 8, "max_attempts": 2, "retry_ms": 1, "max_retry_ms": 1})";

/// A change that a lease has: its position and its account.
using Delivered = std::pair<std::int64_t, AccountNumber>;

class LeasesTest : public ChangesTest {
 protected:
  void add(const std::string& policy = "pause", std::int16_t lanes = 1,
           FirstChange first = FromOldest{}) {
    add_leased_consumer(session(), {.name = "search",
                                    .secret = "secret",
                                    .lanes = lanes,
                                    .policy = policy,
                                    .overrides = kQuick,
                                    .first = first});
  }
  std::int32_t id() { return find_leased_consumer(session(), "search")->id; }

  struct Taken {
    Lease lease;
    std::vector<Delivered> changes;
    Attempt attempt;
  };

  std::optional<Lease> lease_at_once() {
    // A wait after a failure is not part of these tests.
    session().run("UPDATE skua.consumer_lanes SET retry_at = NULL");
    session().run("UPDATE skua.waiting_changes SET retry_at = NULL");
    return take_lease(session(),
                      {.consumer_id = id(), .owner = random_token(), .read_event = read_event_});
  }

  /// Leases changes as the holders of the product do: reads them by their numbers, and records the
  /// batch.
  std::optional<Taken> take() {
    for (;;) {
      auto lease = lease_at_once();
      // The first call may have found an expired lease, and let the lane wait.
      if (!lease) lease = lease_at_once();
      if (!lease) return std::nullopt;
      Taken taken{*lease, {}, {}};
      const std::string others = fmt::format("{}", fmt::join(lease->waiting_keys, ","));
      const postgres::Rows rows = session().run(fmt::format(
          "SELECT pos, actor_id FROM skua.changes_between({}, {}) WHERE {} ORDER BY pos LIMIT {}",
          lease->pos, lease->end,
          lease->key ? fmt::format("actor_id = {}", *lease->key)
                     : fmt::format("actor_id & {} = {} AND actor_id <> ALL ('{{{}}}'::int8[])",
                                   lease->lanes - 1, lease->name.lane, others),
          lease->batch));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        taken.changes.emplace_back(rows.int8(i, 0), rows.int8(i, 1));
      }
      const bool is_full = static_cast<std::int32_t>(rows.size()) == lease->batch;
      const std::int64_t end = is_full ? taken.changes.back().first + 1 : lease->end;
      const std::int64_t first = taken.changes.empty() ? end : taken.changes.front().first;
      const auto attempt = note_batch(session(), lease->name, first, end,
                                      static_cast<std::int32_t>(taken.changes.size()));
      if (!attempt) {
        ADD_FAILURE() << "a fresh lease is lost";
        return std::nullopt;
      }
      taken.attempt = *attempt;
      if (!taken.changes.empty()) return taken;
      acknowledge(session(), lease->name, {});
    }
  }
  LeaseResult ack(const Taken& taken, std::optional<std::int64_t> through = std::nullopt) {
    return acknowledge(session(), taken.lease.name, {.through = through});
  }
  LeaseResult fail(const Taken& taken, std::optional<std::int64_t> pos = std::nullopt) {
    return report_failure(session(), taken.lease.name, {.pos = pos, .error = "refused", .wait = {}},
                          read_event_);
  }
  LeaseResult reject(const Taken& taken, const std::vector<std::int64_t>& rejected,
                     std::optional<std::int64_t> through = std::nullopt) {
    Acknowledgement acknowledgement{.through = through, .read_event = read_event_};
    for (const std::int64_t pos : rejected) {
      acknowledgement.rejected.push_back({pos, fmt::format("no {}", pos)});
    }
    return acknowledge(session(), taken.lease.name, acknowledgement);
  }
  void make_final_failure(std::int64_t pos) {
    report_failure(session(), take()->lease.name,
                   {.pos = pos, .error = "poison", .wait = {}, .is_final = true}, read_event_);
  }
  void expire() {
    session().run(
        "UPDATE skua.consumer_lanes SET lease_until = now() - interval '1 second' "
        "WHERE owner IS NOT NULL");
  }
  /// The positions that a lease has: "1 2 3"; "nothing": there is none.
  static std::string positions(const std::optional<Taken>& taken) {
    if (!taken) return "nothing";
    std::vector<std::int64_t> all;
    for (const auto& [pos, account] : taken->changes) all.push_back(pos);
    return fmt::format("{}", fmt::join(all, " "));
  }
  std::string letters() {
    return value(
        "SELECT coalesce(string_agg(concat_ws(' ', pos, status), ', ' ORDER BY pos), 'none') FROM "
        "skua.dead_letter");
  }
  std::string payloads() {
    return value(
        "SELECT coalesce(string_agg(convert_from(payload, 'UTF8'), ', ' ORDER BY pos), 'none') "
        "FROM skua.dead_letter");
  }
  /// The log drops the changes before a position.
  void drop_log_before(std::int64_t pos) {
    session().run(fmt::format("DELETE FROM skua.change_log WHERE pos < {}", pos));
  }
  std::string waiting() {
    return value(
        "SELECT coalesce(string_agg(concat_ws(' ', actor_id, 'from', pos, CASE WHEN is_open THEN "
        "'open' ELSE 'held' END), ', ' ORDER BY actor_id), 'none') FROM skua.waiting_changes");
  }
  /// Handles the letter of a position as an operator does.
  void replay(std::int64_t pos) {
    const postgres::Rows rows =
        session().run(fmt::format("SELECT id FROM skua.dead_letter WHERE pos = {}", pos));
    EXPECT_TRUE(tables::request_replay(session(), rows.int8(0, 0)));
  }
  void discard(std::int64_t pos) {
    const postgres::Rows rows =
        session().run(fmt::format("SELECT id FROM skua.dead_letter WHERE pos = {}", pos));
    EXPECT_EQ(tables::discard_letters(session(), {.ids = {rows.int8(0, 0)}}, "").size(), 1U);
  }

  ReadLetterEvent read_event_ = [](postgres::Session&, std::int64_t pos) {
    return LetterEvent{.event = fmt::format("event {}", pos), .keys = {}};
  };
};

TEST_F(LeasesTest, a_consumer_gets_the_changes_after_its_start) {
  like(1);
  add("pause", 1, FromNow{});
  EXPECT_EQ(positions(take()), "nothing");
  like(2);
  like(3);
  const auto taken = take();
  EXPECT_EQ(positions(taken), "2 3");
  EXPECT_EQ(ack(*taken), LeaseResult::Ended);
  EXPECT_EQ(positions(take()), "nothing");
}

TEST_F(LeasesTest, a_lane_has_one_lease_at_a_time) {
  add();
  like(1);
  const auto taken = take();
  like(2);
  EXPECT_EQ(positions(take()), "nothing");
  EXPECT_EQ(ack(*taken), LeaseResult::Ended);
  EXPECT_EQ(positions(take()), "2");
}

TEST_F(LeasesTest, the_former_holder_of_a_lost_lease_changes_nothing) {
  add();
  like(1);
  const auto former = take();
  expire();
  const auto present = take();
  EXPECT_EQ(positions(present), "1");
  EXPECT_GT(present->lease.name.epoch, former->lease.name.epoch);
  EXPECT_EQ(ack(*former), LeaseResult::Lost);
  EXPECT_EQ(fail(*former), LeaseResult::Lost);
  EXPECT_EQ(renew_lease(session(), former->lease.name, std::chrono::seconds(60)),
            LeaseResult::Lost);
  EXPECT_EQ(report_loss(session(), former->lease.name, 1), LeaseResult::Lost);
  EXPECT_FALSE(note_batch(session(), former->lease.name, 1, 2, 1));
  EXPECT_EQ(value("SELECT pos FROM skua.consumer_lanes"), "1");
  EXPECT_EQ(ack(*present), LeaseResult::Ended);
  EXPECT_EQ(ack(*present), LeaseResult::Lost) << "a second time";
}

TEST_F(LeasesTest, another_owner_with_the_same_epoch_changes_nothing) {
  add();
  like(1);
  auto taken = take();
  taken->lease.name.owner = random_token();
  EXPECT_EQ(ack(*taken), LeaseResult::Lost);
  EXPECT_EQ(value("SELECT pos FROM skua.consumer_lanes"), "1");
}

TEST_F(LeasesTest, an_expired_lease_that_nobody_took_is_still_valid) {
  add();
  like(1);
  const auto taken = take();
  expire();
  EXPECT_EQ(ack(*taken), LeaseResult::Ended);
  EXPECT_EQ(positions(take()), "nothing");
}

TEST_F(LeasesTest, a_renewal_extends_the_lease) {
  add();
  like(1);
  const auto taken = take();
  expire();
  EXPECT_EQ(renew_lease(session(), taken->lease.name, std::chrono::seconds(60)), LeaseResult::Held);
  EXPECT_EQ(positions(take()), "nothing");
}

TEST_F(LeasesTest, leases_that_end_without_an_answer_are_failures_of_their_changes) {
  add("skip");
  for (int account = 1; account <= 8; ++account) like(account);
  std::vector<std::string> seen;
  while (letters() == "none" && seen.size() < 20) {
    const auto taken = take();
    seen.push_back(positions(taken));
    const bool has_poison = std::any_of(taken->changes.begin(), taken->changes.end(),
                                        [](const Delivered& change) { return change.second == 3; });
    // The program ends at the third account.
    has_poison ? expire() : void(ack(*taken));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"1 2 3 4 5 6 7 8", "1 2 3 4", "1 2", "3 4 5 6", "3 4",
                                            "3", "3", "4 5"}));
  EXPECT_EQ(letters(), "3 dead");
  EXPECT_EQ(value("SELECT error FROM skua.dead_letter"), "the lease ended without an answer");
  EXPECT_EQ(payloads(), "event 3");
  EXPECT_EQ(read_consumers(session()).at(0).lanes.at(0).lease_expiries, 6);
}

TEST_F(LeasesTest, an_expiry_lets_the_lane_wait_and_is_shown) {
  add();
  session().run(
      R"(UPDATE skua.consumers SET overrides = overrides || '{"retry_ms": 3600000, "max_retry_ms": 3600000}')");
  like(1);
  take();
  expire();
  EXPECT_FALSE(take_lease(session(), {.consumer_id = id(), .owner = "a", .ignores_pause = true}));
  const ConsumerLane lane = read_consumers(session()).at(0).lanes.at(0);
  EXPECT_EQ(lane.attempts, 1);
  EXPECT_EQ(lane.failures, 1);
  EXPECT_EQ(lane.cause, FailureCause::Expiry);
  EXPECT_EQ(lane.error, "the lease ended without an answer");
  EXPECT_FALSE(lane.is_leased);
}

TEST_F(LeasesTest, an_expiry_of_waiting_changes_counts_for_them) {
  add("block_key");
  like(1, 1);
  like(1, 2);
  make_final_failure(1);
  EXPECT_EQ(positions(take()), "nothing");
  replay(1);
  EXPECT_EQ(positions(take()), "1 2");
  expire();
  EXPECT_EQ(positions(take()), "1") << "the batch is halved";
  EXPECT_EQ(value("SELECT attempts FROM skua.waiting_changes"), "0");
  expire();
  EXPECT_EQ(positions(take()), "1");
  EXPECT_EQ(value("SELECT attempts FROM skua.waiting_changes"), "1");
  expire();
  EXPECT_EQ(positions(take()), "nothing");
  EXPECT_EQ(letters(), "1 dead");
  EXPECT_EQ(waiting(), "1 from 1 held");
}

TEST_F(LeasesTest, an_expiry_after_a_failure_of_skua_or_the_server_counts_no_attempt) {
  add();
  for (int account = 1; account <= 4; ++account) like(account);
  const auto batch_after = [&](std::optional<std::chrono::milliseconds> since_failure) {
    expire();
    const auto lease =
        take_lease(session(), {.consumer_id = id(), .owner = "a", .since_failure = since_failure});
    if (lease) note_batch(session(), lease->name, lease->pos, lease->end, 4);
    return lease ? lease->batch : 0;
  };
  // The process ended before it gave the changes to anybody.
  ASSERT_TRUE(take_lease(session(), {.consumer_id = id(), .owner = "a"}));
  EXPECT_EQ(batch_after(std::nullopt), 8);
  EXPECT_EQ(batch_after(std::chrono::milliseconds(0)), 8) << "the connection was lost meanwhile";
  session().run("UPDATE skua.consumer_lanes SET leased_at = pg_postmaster_start_time()");
  EXPECT_EQ(batch_after(std::nullopt), 8) << "the server restarted meanwhile";
  EXPECT_EQ(value("SELECT lease_expiries || ' ' || failures FROM skua.consumer_lanes"), "0 0");
  EXPECT_EQ(batch_after(std::chrono::hours(1)), 2) << "the connection was lost before";
  EXPECT_EQ(value("SELECT lease_expiries || ' ' || failures FROM skua.consumer_lanes"), "1 1");
}

TEST_F(LeasesTest, an_expiry_counts_no_attempt_if_the_owner_has_lost_its_session) {
  add();
  for (int account = 1; account <= 4; ++account) like(account);
  const std::string role = "skua pull";
  const std::string owner = new_lease_owner();
  postgres::Session first(database_.url(), postgres::process_name(role));
  const auto lease_and_expire = [&](postgres::Session& taker) {
    const auto lease = take_lease(taker, {.consumer_id = id(), .owner = owner});
    if (lease) note_batch(taker, lease->name, lease->pos, lease->end, 4);
    expire();
    return lease ? lease->batch : 0;
  };
  EXPECT_EQ(lease_and_expire(first), 8);
  {
    // A session with another role, and one of another process.
    postgres::Session pages(database_.url(), postgres::process_name("skua pages"));
    postgres::Session other(database_.url(), role + " pid 7 at host " + random_token());
    EXPECT_EQ(lease_and_expire(other), 2) << "the owner's session is the same";
    EXPECT_EQ(value("SELECT lease_expiries FROM skua.consumer_lanes"), "1");
    const postgres::Session again(database_.url(), postgres::process_name(role));
    EXPECT_EQ(lease_and_expire(other), 2) << "the owner has opened its session again";
    EXPECT_EQ(value("SELECT lease_expiries FROM skua.consumer_lanes"), "1");
    EXPECT_EQ(lease_and_expire(other), 2) << "as before, the session is younger than the lease";
  }
}

TEST_F(LeasesTest, the_owner_learns_the_attempt_and_the_end_of_the_lease) {
  add();
  like(1);
  like(2);
  auto taken = take();
  EXPECT_EQ(taken->attempt.number, 1);
  EXPECT_GT(taken->attempt.left, std::chrono::seconds(20));
  EXPECT_LE(taken->attempt.left, std::chrono::seconds(30));
  EXPECT_EQ(value("SELECT (extract(epoch FROM lease_until) * 1000000)::int8 FROM "
                  "skua.consumer_lanes"),
            std::to_string(taken->attempt.lease_until.time_since_epoch().count()));
  fail(*taken, 1);
  taken = take();
  EXPECT_EQ(taken->attempt.number, 2);
  expire();
  session().run(R"(UPDATE skua.consumers SET overrides = overrides || '{"max_attempts": 9}')");
  taken = take();
  EXPECT_EQ(taken->attempt.number, 3);
  ack(*taken);
  EXPECT_EQ(take()->attempt.number, 1) << "another change";
}

TEST_F(LeasesTest, rejected_changes_are_letters_and_the_others_are_processed) {
  add("skip");
  for (int account = 1; account <= 6; ++account) like(account);
  EXPECT_EQ(reject(*take(), {4, 2}), LeaseResult::Ended);
  EXPECT_EQ(letters(), "2 dead, 4 dead");
  EXPECT_EQ(value("SELECT string_agg(error, ', ' ORDER BY pos) FROM skua.dead_letter"),
            "no 2, no 4");
  EXPECT_EQ(payloads(), "event 2, event 4");
  EXPECT_EQ(positions(take()), "nothing");
  EXPECT_EQ(value("SELECT pos || ' ' || failures FROM skua.consumer_lanes"), "7 0");
}

TEST_F(LeasesTest, rejections_of_a_part_can_be_repeated) {
  add("skip");
  for (int account = 1; account <= 4; ++account) like(account);
  const auto taken = take();
  EXPECT_EQ(reject(*taken, {1}, 2), LeaseResult::Held);
  EXPECT_EQ(reject(*taken, {1}, 2), LeaseResult::Held);
  EXPECT_EQ(value("SELECT pos || ' ' || attempts FROM skua.dead_letter"), "1 1");
  EXPECT_EQ(reject(*taken, {4}, 3), LeaseResult::NotOfLease) << "not acknowledged";
  EXPECT_EQ(reject(*taken, {5}), LeaseResult::NotOfLease);
  EXPECT_EQ(reject(*taken, {4}), LeaseResult::Ended);
  EXPECT_EQ(letters(), "1 dead, 4 dead");
}

TEST_F(LeasesTest, a_change_of_another_lane_cannot_be_rejected) {
  add("skip", 2);
  for (int account = 1; account <= 4; ++account) like(account);
  const auto taken = take();
  const std::int64_t first = taken->changes.front().first;
  EXPECT_EQ(positions(taken), first == 1 ? "1 3" : "2 4");
  EXPECT_EQ(reject(*taken, {first + 1}), LeaseResult::NotOfLease);
  EXPECT_EQ(fail(*taken, first + 1), LeaseResult::NotOfLease);
  EXPECT_EQ(ack(*taken, first), LeaseResult::Held);
  EXPECT_EQ(fail(*taken, first + 1), LeaseResult::NotOfLease) << "now the position of the lane";
  EXPECT_EQ(letters(), "none");
  EXPECT_EQ(reject(*taken, {first + 2}), LeaseResult::Ended);
}

TEST_F(LeasesTest, accounts_of_rejected_changes_wait_with_block_key) {
  add("block_key");
  like(1, 1);
  like(2, 1);
  like(1, 2);
  like(2, 2);
  like(3, 1);
  EXPECT_EQ(reject(*take(), {1, 3, 4}), LeaseResult::Ended);
  EXPECT_EQ(letters(), "1 dead, 4 dead") << "the account of the third one waits already";
  EXPECT_EQ(waiting(), "1 from 1 held, 2 from 4 held");
  EXPECT_EQ(positions(take()), "nothing");
  replay(1);
  const auto taken = take();
  EXPECT_EQ(positions(taken), "1 3");
  EXPECT_EQ(reject(*taken, {3}), LeaseResult::Ended);
  EXPECT_EQ(letters(), "1 resolved, 3 dead, 4 dead");
  EXPECT_EQ(waiting(), "1 from 3 held, 2 from 4 held");
}

TEST_F(LeasesTest, a_rejected_change_can_stop_the_consumer) {
  add("pause");
  for (int account = 1; account <= 4; ++account) like(account);
  EXPECT_EQ(reject(*take(), {2, 3}), LeaseResult::Ended);
  EXPECT_EQ(find_leased_consumer(session(), "search")->error,
            "the change at position 2 failed: no 2");
  skip_change(session(), "search", 2, read_event_);
  EXPECT_EQ(letters(), "2 dead");
  EXPECT_EQ(payloads(), "event 2");
  EXPECT_EQ(positions(take()), "3 4");
}

TEST_F(LeasesTest, a_letter_is_replayed_after_the_log_has_dropped_its_change) {
  add("skip");
  like(1, 1);
  like(2, 1);
  make_final_failure(1);
  ack(*take());
  drop_log_before(2);
  replay(1);
  auto lease = lease_at_once();
  ASSERT_TRUE(lease && lease->letter);
  EXPECT_EQ(lease->letter->event, "event 1");
  EXPECT_EQ(lease->letter->timeline, 1);
  EXPECT_EQ(lease->pos, 1);
  EXPECT_EQ(lease->end, 2);
  ASSERT_TRUE(note_batch(session(), lease->name, 1, 2, 1));
  EXPECT_EQ(report_failure(session(), lease->name,
                           {.pos = 1, .error = "again", .wait = {}, .is_final = true}, read_event_),
            LeaseResult::Ended);
  EXPECT_EQ(value("SELECT status || ' ' || attempts || ' ' || error FROM skua.dead_letter"),
            "dead 2 again");
  EXPECT_EQ(payloads(), "event 1");
  EXPECT_EQ(waiting(), "none");

  replay(1);
  lease = lease_at_once();
  ASSERT_TRUE(lease && lease->letter);
  ASSERT_TRUE(note_batch(session(), lease->name, 1, 2, 1));
  EXPECT_EQ(acknowledge(session(), lease->name, {.through = 1}), LeaseResult::Ended);
  EXPECT_EQ(letters(), "1 resolved");
  EXPECT_EQ(waiting(), "none");
}

TEST_F(LeasesTest, what_waits_behind_a_letter_follows_after_the_log_has_dropped_its_change) {
  add("block_key");
  like(1, 1);
  like(1, 2);
  make_final_failure(1);
  EXPECT_EQ(positions(take()), "nothing");
  drop_log_before(2);
  replay(1);
  const auto lease = lease_at_once();
  ASSERT_TRUE(lease && lease->letter);
  ASSERT_TRUE(note_batch(session(), lease->name, 1, 2, 1));
  EXPECT_EQ(acknowledge(session(), lease->name, {}), LeaseResult::Ended);
  EXPECT_EQ(letters(), "1 resolved");
  const auto taken = take();
  EXPECT_EQ(positions(taken), "2");
  ack(*taken);
  EXPECT_EQ(waiting(), "none");
}

TEST_F(LeasesTest, a_letter_of_another_timeline_is_replayed_with_its_own_position) {
  add("skip");
  like(1);
  make_final_failure(1);
  session().run("UPDATE skua.change_log_state SET timeline = timeline + 1");
  replay(1);
  const auto lease = lease_at_once();
  ASSERT_TRUE(lease && lease->letter);
  EXPECT_EQ(lease->letter->timeline, 1);
  EXPECT_EQ(timeline_of(session(), lease->name), 1);
  ASSERT_TRUE(note_batch(session(), lease->name, 1, 2, 1));
  EXPECT_EQ(acknowledge(session(), lease->name, {}), LeaseResult::Ended);
  EXPECT_EQ(letters(), "1 resolved");
  like(2);
  const auto taken = take();
  EXPECT_EQ(timeline_of(session(), taken->lease.name), 2);
}

TEST_F(LeasesTest, letters_are_delivered_in_the_order_of_their_positions) {
  add("skip");
  for (int account = 1; account <= 4; ++account) like(account);
  EXPECT_EQ(reject(*take(), {1, 2, 3, 4}), LeaseResult::Ended);
  const auto ids = tables::letter_ids(session(), {.consumer = "search", .lane = 0});
  ASSERT_EQ(ids.size(), 4U);
  EXPECT_TRUE(tables::letter_ids(session(), {.consumer = "search", .lane = 1}).empty());
  for (const std::int64_t id : ids) EXPECT_TRUE(tables::request_replay(session(), id));
  for (const std::string expected : {"1", "2", "3", "4", "nothing"}) {
    const auto taken = take();
    EXPECT_EQ(positions(taken), expected);
    if (taken) ack(*taken);
  }
}

TEST_F(LeasesTest, partial_progress_is_kept) {
  add();
  for (int account = 1; account <= 4; ++account) like(account);
  const auto taken = take();
  EXPECT_EQ(ack(*taken, 2), LeaseResult::Held);
  EXPECT_EQ(ack(*taken, 1), LeaseResult::Held) << "a repetition, which changes nothing";
  EXPECT_EQ(ack(*taken, 5), LeaseResult::NotOfLease);
  EXPECT_EQ(ack(*taken, std::numeric_limits<std::int64_t>::max()), LeaseResult::NotOfLease);
  expire();
  EXPECT_EQ(positions(take()), "3 4");
}

TEST_F(LeasesTest, batches_that_fail_are_halved_until_the_change_is_alone) {
  add();
  for (int account = 1; account <= 8; ++account) like(account);
  std::vector<std::string> seen;
  while (find_leased_consumer(session(), "search")->state == "running") {
    const auto taken = take();
    seen.push_back(positions(taken));
    const bool has_poison = std::any_of(taken->changes.begin(), taken->changes.end(),
                                        [](const Delivered& change) { return change.second == 3; });
    has_poison ? fail(*taken) : ack(*taken);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"1 2 3 4 5 6 7 8", "1 2 3 4", "1 2", "3 4 5 6", "3 4",
                                            "3", "3"}));
  EXPECT_EQ(find_leased_consumer(session(), "search")->error,
            "the change at position 3 failed: refused");
  EXPECT_EQ(positions(take()), "nothing");
  skip_change(session(), "search", 3);
  EXPECT_EQ(letters(), "3 dead");
  EXPECT_EQ(positions(take()), "4 5 6 7 8");
}

TEST_F(LeasesTest, a_failure_that_names_the_change_acknowledges_those_before_it) {
  add("skip");
  for (int account = 1; account <= 4; ++account) like(account);
  const auto taken = take();
  EXPECT_EQ(fail(*taken, 3), LeaseResult::Ended);
  EXPECT_EQ(value("SELECT pos || ' ' || attempts FROM skua.consumer_lanes"), "3 1");
  EXPECT_EQ(fail(*take(), 3), LeaseResult::Ended);
  EXPECT_EQ(letters(), "3 dead");
  EXPECT_EQ(positions(take()), "4");
}

TEST_F(LeasesTest, a_final_failure_needs_one_attempt) {
  add("skip");
  like(1);
  like(2);
  const auto taken = take();
  report_failure(session(), taken->lease.name,
                 {.pos = 1, .error = "never", .wait = {}, .is_final = true});
  EXPECT_EQ(letters(), "1 dead");
  EXPECT_EQ(positions(take()), "2");
}

TEST_F(LeasesTest, a_temporary_failure_counts_no_attempt_and_waits) {
  add();
  like(1);
  for (int i = 0; i < 5; ++i) {
    const auto taken = take();
    report_failure(
        session(), taken->lease.name,
        {.pos = {}, .error = "down", .wait = std::chrono::hours(1), .is_temporary = true});
  }
  EXPECT_EQ(value("SELECT attempts || ' ' || (retry_at > now() + interval '59 minutes') FROM "
                  "skua.consumer_lanes"),
            "0 true");
  const auto lease = take_lease(session(), {.consumer_id = id(), .owner = "a"});
  EXPECT_FALSE(lease) << "before its time, although there is a change";
  EXPECT_EQ(positions(take()), "1");
}

TEST_F(LeasesTest, failures_are_counted_until_a_success) {
  add();
  like(1);
  const auto consumer = [&] { return read_consumers(session()).at(0); };
  EXPECT_EQ(failing_lane(consumer()), nullptr);
  for (int i = 0; i < 3; ++i) {
    report_failure(session(), take()->lease.name,
                   {.pos = {},
                    .error = "HTTP 401",
                    .wait = {},
                    .is_temporary = true,
                    .cause = FailureCause::Refused});
  }
  session().run(
      "UPDATE skua.consumer_lanes SET failing_since = failing_since - interval '29 minutes'");
  fail(*take());
  const Consumer failing = consumer();
  ASSERT_NE(failing_lane(failing), nullptr);
  const ConsumerLane& lane = *failing_lane(failing);
  EXPECT_EQ(lane.failures, 4);
  EXPECT_EQ(lane.error, "refused");
  EXPECT_EQ(lane.cause, FailureCause::Change);
  EXPECT_GE(lane.failing_for, std::chrono::minutes(29));
  EXPECT_LT(lane.failing_for, std::chrono::minutes(30));
  ack(*take());
  EXPECT_EQ(failing_lane(consumer()), nullptr);
  EXPECT_EQ(failures_in_a_row(consumer()), 0);
}

TEST_F(LeasesTest, a_process_serves_while_it_has_its_session) {
  add();
  EXPECT_FALSE(read_consumers(session()).at(0).is_served);
  {
    const postgres::Session other(database_.url(), kWebhooksSession + " pid 1 at host token");
    EXPECT_TRUE(read_consumers(session()).at(0).is_served);
  }
}

TEST_F(LeasesTest, a_lease_that_ended_a_minute_ago_is_abandoned) {
  add();
  like(1);
  const auto lane = [&] { return read_consumers(session()).at(0).lanes.at(0); };
  const auto taken = take();
  EXPECT_TRUE(lane().is_leased);
  session().run("UPDATE skua.consumer_lanes SET lease_until = now() - interval '61 seconds'");
  EXPECT_FALSE(lane().is_leased);
  EXPECT_TRUE(lane().is_abandoned);
}

TEST_F(LeasesTest, the_policy_block_lane_stops_one_lane) {
  add("block_lane", 2);
  for (int account = 1; account <= 4; ++account) like(account);
  std::set<AccountNumber> processed;
  while (const auto taken = take()) {
    const AccountNumber account = taken->changes.front().second;
    if (account == 1) {
      fail(*taken, taken->changes.front().first);
      continue;
    }
    for (const auto& change : taken->changes) processed.insert(change.second);
    ack(*taken);
  }
  EXPECT_EQ(processed, (std::set<AccountNumber>{2, 4}));
  EXPECT_EQ(value("SELECT string_agg(lane || ' ' || is_blocked, ', ' ORDER BY lane) FROM "
                  "skua.consumer_lanes"),
            "0 false, 1 true");
  reset_consumer(session(), "search");
  EXPECT_EQ(positions(take()), "1 3");
}

TEST_F(LeasesTest, the_policy_block_key_lets_only_the_account_wait) {
  add("block_key");
  like(1, 1);
  like(2, 1);
  auto taken = take();
  report_failure(session(), taken->lease.name,
                 {.pos = 1, .error = "poison", .wait = {}, .is_final = true});
  like(1, 2);
  like(3, 1);
  like(1, 3);
  EXPECT_EQ(letters(), "1 dead");
  EXPECT_EQ(waiting(), "1 from 1 held");
  taken = take();
  EXPECT_EQ(positions(taken), "2 4");
  ack(*taken);
  EXPECT_EQ(positions(take()), "nothing");
  replay(1);
  taken = take();
  EXPECT_EQ(positions(taken), "1 3 5") << "the letter first, then what waited";
  ack(*taken);
  EXPECT_EQ(letters(), "1 resolved");
  EXPECT_EQ(waiting(), "none");
  like(1, 4);
  EXPECT_EQ(positions(take()), "6") << "the account is one of its lane again";
}

TEST_F(LeasesTest, waiting_changes_continue_after_a_discarded_letter) {
  add("block_key");
  like(1, 1);
  like(1, 2);
  report_failure(session(), take()->lease.name,
                 {.pos = 1, .error = "poison", .wait = {}, .is_final = true});
  EXPECT_EQ(positions(take()), "nothing");
  discard(1);
  EXPECT_EQ(positions(take()), "2");
}

TEST_F(LeasesTest, a_change_that_fails_while_others_wait_behind_it_is_the_next_letter) {
  add("block_key");
  for (int post = 1; post <= 4; ++post) like(1, post);
  report_failure(session(), take()->lease.name,
                 {.pos = 1, .error = "poison", .wait = {}, .is_final = true});
  EXPECT_EQ(positions(take()), "nothing") << "the lane has passed the changes";
  replay(1);
  report_failure(session(), take()->lease.name,
                 {.pos = 3, .error = "poison", .wait = {}, .is_final = true});
  EXPECT_EQ(letters(), "1 resolved, 3 dead");
  EXPECT_EQ(waiting(), "1 from 3 held");
  EXPECT_EQ(positions(take()), "nothing");
  replay(3);
  const auto taken = take();
  EXPECT_EQ(positions(taken), "3 4");
  ack(*taken);
  EXPECT_EQ(waiting(), "none");
}

TEST_F(LeasesTest, a_skipped_change_is_delivered_again_after_a_replay) {
  add("skip");
  like(1, 1);
  like(1, 2);
  const auto taken = take();
  report_failure(session(), taken->lease.name,
                 {.pos = 1, .error = "poison", .wait = {}, .is_final = true});
  ack(*take());
  replay(1);
  const auto replayed = take();
  EXPECT_EQ(positions(replayed), "1");
  ack(*replayed);
  EXPECT_EQ(letters(), "1 resolved");
  EXPECT_EQ(waiting(), "none");
}

TEST_F(LeasesTest, a_replay_of_another_timeline_fails_with_the_reason) {
  add("skip");
  like(1);
  report_failure(session(), take()->lease.name,
                 {.pos = 1, .error = "poison", .wait = {}, .is_final = true});
  session().run("UPDATE skua.change_log_state SET timeline = timeline + 1");
  replay(1);
  EXPECT_EQ(positions(take()), "nothing");
  EXPECT_EQ(value("SELECT status || ': ' || error FROM skua.dead_letter"),
            "dead: the log does not have the change any more");
}

TEST_F(LeasesTest, too_many_waiting_accounts_block_the_lane) {
  add("block_key");
  session().run(fmt::format(
      "INSERT INTO skua.waiting_changes (consumer_id, lane, actor_id, pos, letter_id, is_open) "
      "SELECT {}, 0, 1000 + n, 1, -1, false FROM generate_series(1, 1000) AS n; INSERT INTO "
      "skua.dead_letter (id, consumer, key, error, status) OVERRIDING SYSTEM VALUE VALUES (-1, "
      "'other', 'x', 'x', 'dead')",
      id()));
  like(1);
  report_failure(session(), take()->lease.name,
                 {.pos = 1, .error = "poison", .wait = {}, .is_final = true});
  EXPECT_EQ(value("SELECT is_blocked || ' ' || pos FROM skua.consumer_lanes"), "true 1");
}

TEST_F(LeasesTest, a_consumer_that_the_log_left_behind_is_lagged_out_and_can_be_moved) {
  add();
  like(1);
  const auto taken = take();
  report_loss(session(), taken->lease.name, 100);
  EXPECT_EQ(find_leased_consumer(session(), "search")->state, "lagged out");
  EXPECT_EQ(positions(take()), "nothing");
  move_leased_consumer(session(), "search", FromOldest{});
  EXPECT_EQ(positions(take()), "1");
  EXPECT_THROW(move_leased_consumer(session(), "search", FromPosition{9}), ConsumerError);
}

TEST_F(LeasesTest, attempts_of_a_lease_do_not_overflow) {
  add("pause");
  session().run(
      R"(UPDATE skua.consumers SET overrides = overrides || '{"max_attempts": 2000000000}')");
  like(1);
  session().run("UPDATE skua.consumer_lanes SET attempts = 2147483647");
  fail(*take(), 1);
  EXPECT_EQ(find_leased_consumer(session(), "search")->state, "running");
  EXPECT_EQ(positions(take()), "1");
}

TEST_F(LeasesTest, a_move_is_visible_to_other_sessions) {
  add();
  like(1);
  move_leased_consumer(session(), "search", FromNow{});
  postgres::Session other(database_.url(), "other");
  EXPECT_EQ(other.run("SELECT pos FROM skua.consumer_lanes").int8(0, 0), 2);
}

TEST_F(LeasesTest, a_session_that_refers_to_the_consumer_does_not_delay_its_lanes) {
  add();
  like(1);
  postgres::Session other(database_.url(), "other");
  postgres::Transaction reading(other);
  // The lock of a foreign key.
  other.run("SELECT FROM skua.consumers FOR KEY SHARE");
  const auto taken = take();
  EXPECT_EQ(positions(taken), "1");
  EXPECT_EQ(ack(*taken), LeaseResult::Ended);
}

TEST_F(LeasesTest, a_wait_after_a_failure_is_not_shortened_by_a_change) {
  add();
  session().run(
      R"(UPDATE skua.consumers SET overrides = overrides || '{"retry_ms": 3600000, "max_retry_ms": 3600000}')");
  like(1);
  fail(*take(), 1);
  like(2);
  EXPECT_FALSE(take_lease(session(), {.consumer_id = id(), .owner = "a", .ignores_pause = true}));
}

TEST_F(LeasesTest, a_move_revokes_leases) {
  add();
  like(1);
  const auto taken = take();
  move_leased_consumer(session(), "search", FromNow{});
  EXPECT_EQ(ack(*taken), LeaseResult::Lost);
  EXPECT_EQ(positions(take()), "nothing");
}

TEST_F(LeasesTest, lost_waiting_changes_are_in_their_letter_and_concern_no_other_account) {
  add("block_key");
  for (int post = 1; post <= 3; ++post) like(1, post);
  report_failure(session(), take()->lease.name,
                 {.pos = 1, .error = "poison", .wait = {}, .is_final = true});
  EXPECT_EQ(positions(take()), "nothing");
  replay(1);
  const auto taken = take();
  report_loss(session(), taken->lease.name, 3);
  EXPECT_EQ(value("SELECT status || ': ' || error FROM skua.dead_letter"),
            "dead: poison; the log does not have the changes of the account from position 1 to 2 "
            "any more");
  EXPECT_EQ(positions(take()), "3");
  EXPECT_EQ(find_leased_consumer(session(), "search")->state, "running");
}

TEST_F(LeasesTest, readers_see_the_origin_of_a_webhook_and_not_its_address) {
  const std::string url = "https://hooks.example:8443/services/T0/Xy7pQ2sW?token=abc#x";
  add_leased_consumer(session(), {.name = "search", .url = url, .secret = "s"});
  // An address whose secret follows the host without a path.
  add_leased_consumer(session(),
                      {.name = "other", .url = "http://a.example?token=abc", .secret = "s"});
  EXPECT_EQ(find_leased_consumer(session(), "search")->url, url);
  EXPECT_EQ(find_leased_consumer(session(), "other")->url, "http://a.example?token=abc");
  session().run("SET ROLE skua_reader");
  EXPECT_EQ(value("SELECT string_agg(url, ' ' ORDER BY name) FROM skua.consumers"),
            "http://a.example https://hooks.example:8443");
  EXPECT_EQ(value("SELECT count(*) FROM skua.consumers AS c WHERE c::text ~ 'Xy7pQ2sW|token'"),
            "0");
  EXPECT_THROW(session().run("SELECT url FROM skua.consumer_secrets"), postgres::SqlError);
  session().run("RESET ROLE");
}

TEST_F(LeasesTest, what_cannot_be_added_is_refused) {
  add();
  for (const std::string name : {"search", "post_stats", "indexer", "Search", "", "a-b"}) {
    EXPECT_THROW(add_leased_consumer(session(), {.name = name, .secret = "s"}), ConsumerError)
        << name;
  }
  EXPECT_THROW(add_leased_consumer(session(), {.name = "other", .secret = "s", .lanes = 3}),
               ConsumerError);
  EXPECT_THROW(
      add_leased_consumer(session(), {.name = "other", .secret = "s", .profile = "fastest"}),
      ConsumerError);
}

/// Each seed is an interleaving of writes, leases, failures, lost leases and replays, with two
/// accounts in each lane whose changes fail at times.
class LeaseModelTest : public LeasesTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(LeaseModelTest, each_change_of_an_account_is_processed_in_order_and_at_least_once) {
  std::mt19937 random(GetParam());
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  add("block_key", 2);
  std::map<AccountNumber, std::vector<std::int64_t>> written;
  std::map<AccountNumber, std::vector<std::int64_t>> processed;
  std::map<AccountNumber, std::int64_t> posts;
  std::vector<Taken> former;
  bool poisoned = true;
  const auto process = [&](const Delivered& change) {
    processed[change.second].push_back(change.first);
  };
  const auto step = [&] {
    auto taken = take();
    if (!taken) return false;
    if (poisoned && chance(15)) {
      former.push_back(*std::move(taken));
      expire();
      return true;
    }
    for (const Delivered& change : taken->changes) {
      if (poisoned && change.second <= 2 && chance(40)) {
        EXPECT_EQ(fail(*taken, change.first), LeaseResult::Ended);
        return true;
      }
      process(change);
      if (chance(20)) ack(*taken, change.first);
    }
    ack(*taken);
    return true;
  };
  for (int i = 0; i < 200; ++i) {
    if (chance(50)) {
      const auto account = static_cast<AccountNumber>(1 + random() % 6);
      written[account].push_back(like(account, ++posts[account]));
    }
    if (chance(50)) step();
    if (!former.empty() && chance(30)) {
      const auto result = ack(former.back());
      // If no owner has leased the lane since then, the former owner has processed the changes.
      if (result == LeaseResult::Ended) {
        for (const Delivered& change : former.back().changes) process(change);
      }
      former.pop_back();
    }
    if (chance(10)) {
      for (const std::int64_t letter : tables::letter_ids(session(), {})) {
        tables::request_replay(session(), letter);
      }
    }
  }
  poisoned = false;
  for (int i = 0; i < 50; ++i) {
    expire();
    while (step()) {
    }
    for (const std::int64_t letter : tables::letter_ids(session(), {})) {
      tables::request_replay(session(), letter);
    }
  }
  for (auto& [account, positions_of_account] : processed) {
    // A repetition may follow; the first time that a change is processed is in order.
    std::vector<std::int64_t> first_times;
    for (const std::int64_t pos : positions_of_account) {
      if (first_times.empty() || pos > first_times.back()) first_times.push_back(pos);
    }
    positions_of_account = first_times;
  }
  EXPECT_EQ(processed, written);
  EXPECT_EQ(waiting(), "none");
  EXPECT_EQ(value("SELECT count(*) FROM skua.dead_letter WHERE status <> 'resolved'"), "0");
}
INSTANTIATE_TEST_SUITE_P(Seeds, LeaseModelTest, ::testing::Range(1U, 9U));

}  // namespace
}  // namespace skua::consumers::leases_test
