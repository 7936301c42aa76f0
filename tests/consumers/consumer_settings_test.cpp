#include "consumers/consumer_settings.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/account_number.hpp"
#include "base/random.hpp"
#include "consumers/consumer_table.hpp"
#include "consumers/leases/lease.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "consumers/made_changes.hpp"
#include "consumers/tuning.hpp"
#include "support/postgres.hpp"
#include "support/projections.hpp"
#include "tables/dead_letters.hpp"

namespace skua::consumers::consumer_settings_test {
namespace {

class ConsumerSettingsTest : public ChangesTest {
 protected:
  void add_webhook(const std::string& policy = "pause", std::int16_t lanes = 1) {
    add_leased_consumer(session(), {.name = "search",
                                    .url = "https://search.example/hook?key=abcdef",
                                    .secret = "whsec_first",
                                    .lanes = lanes,
                                    .policy = policy,
                                    .overrides = R"({"pause_ms": 0, "batch": 4})",
                                    .first = FromOldest{}});
  }
  std::int32_t id() { return find_leased_consumer(session(), "search")->id; }
  SettingsResult set(const ConsumerSettings& settings, const std::string& name = "search") {
    return set_consumer(session(), name, settings);
  }
  std::string refusal(const ConsumerSettings& settings, const std::string& name = "search") {
    try {
      set(settings, name);
    } catch (const ConsumerError& error) {
      return error.what();
    }
    return "";
  }
  std::string positions() {
    return value("SELECT string_agg(pos::text, ' ' ORDER BY lane) FROM skua.consumer_lanes");
  }

  struct Taken {
    LeaseName lease;
    /// The positions and accounts.
    std::vector<std::pair<std::int64_t, AccountNumber>> changes;
  };

  /// Leases changes as the holders of the product do. The waits after failures and lost leases are
  /// not part of the test.
  std::optional<Taken> take() {
    for (;;) {
      session().run("UPDATE skua.consumer_lanes SET retry_at = NULL");
      const auto lease = take_lease(session(), {.consumer_id = id(), .owner = random_token()});
      if (!lease) return std::nullopt;
      Taken taken{lease->name, {}};
      const postgres::Rows rows = session().run(fmt::format(
          "SELECT pos, actor_id FROM skua.changes_between({}, {}) WHERE {} ORDER BY pos LIMIT {}",
          lease->pos, lease->end,
          lease->key ? fmt::format("actor_id = {}", *lease->key)
                     : fmt::format("actor_id & {} = {} AND actor_id <> ALL ('{{{}}}'::int8[])",
                                   lease->lanes - 1, lease->name.lane,
                                   fmt::join(lease->waiting_keys, ",")),
          lease->batch));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        taken.changes.emplace_back(rows.int8(i, 0), rows.int8(i, 1));
      }
      const bool is_full = static_cast<std::int32_t>(rows.size()) == lease->batch;
      const std::int64_t end = is_full ? taken.changes.back().first + 1 : lease->end;
      const std::int64_t first = taken.changes.empty() ? end : taken.changes.front().first;
      EXPECT_TRUE(note_batch(session(), lease->name, first, end,
                             static_cast<std::int32_t>(taken.changes.size())));
      if (!taken.changes.empty()) return taken;
      acknowledge(session(), lease->name, {});
    }
  }
};

TEST_F(ConsumerSettingsTest, values_change_and_the_position_stays) {
  add_webhook();
  for (int account = 1; account <= 3; ++account) like(account);
  acknowledge(session(), take()->lease, {.through = 2});
  EXPECT_EQ(set({.policy = "skip",
                 .profile = "relaxed",
                 .overrides = R"({"batch": 7, "retry_ms": 9})",
                 .url = "http://other.example:8080/x",
                 .filter = R"({"ops":["create"]})",
                 .secret = "whsec_second"})
                .kind,
            "webhook");
  const auto consumer = find_leased_consumer(session(), "search");
  EXPECT_EQ(consumer->url, "http://other.example:8080/x");
  EXPECT_EQ(consumer->secret, "whsec_second");
  EXPECT_EQ(consumer->filter, R"({"ops": ["create"]})");
  EXPECT_EQ(consumer->tuning().batch, 7);
  EXPECT_EQ(consumer->tuning().max_attempts, 20) << "of the profile";
  EXPECT_EQ(value("SELECT url || ' ' || policy FROM skua.consumers"),
            "http://other.example:8080 skip")
      << "people see the origin only";
  EXPECT_EQ(positions(), "3");

  set({.overrides = R"({"batch": null})"});
  EXPECT_EQ(value("SELECT overrides FROM skua.consumers"), R"({"pause_ms": 0, "retry_ms": 9})");
  EXPECT_EQ(find_leased_consumer(session(), "search")->secret, "whsec_second") << "it stays";
  EXPECT_EQ(find_leased_consumer(session(), "search")->filter, R"({"ops": ["create"]})");
}

TEST_F(ConsumerSettingsTest, values_that_the_kind_does_not_have_are_refused) {
  add_webhook();
  add_leased_consumer(session(), {.name = "archive", .secret = "hash"});
  add_consumer(session(), {.name = "post_stats"});
  add_consumer(session(), {.name = "notifications"});
  EXPECT_EQ(refusal({.policy = "skip"}, "none"),
            "there is no consumer 'none': `skua consumers list` shows all");
  EXPECT_EQ(refusal({.url = "http://a.example/"}, "archive"),
            "archive is no webhook: it has no URL");
  EXPECT_EQ(refusal({.filter = "{}"}, "post_stats"),
            "post_stats is a projection: it reads all changes, and has no secret");
  EXPECT_EQ(refusal({.secret = "x"}, "post_stats"),
            "post_stats is a projection: it reads all changes, and has no secret");
  EXPECT_EQ(refusal({.policy = "block_key"}, "post_stats"),
            "the policy block_key is for webhooks and pull consumers");
  EXPECT_EQ(refusal({.lanes = std::int16_t{2}}, "notifications"), "notifications has one lane");
  EXPECT_EQ(refusal({.lanes = std::int16_t{3}}), "the number of lanes is a power of two up to 64");
  EXPECT_EQ(refusal({.profile = "fast"}),
            "there is no profile 'fast': choose default, low_latency, high_throughput, relaxed");
  EXPECT_EQ(refusal({.overrides = R"({"lease_ms": 5000})"}),
            "lease_ms is not a value of a webhook");
  EXPECT_EQ(refusal({.overrides = R"({"lease_ms": 5000})"}, "archive"), "");
  EXPECT_EQ(value("SELECT count(*) FROM skua.consumers WHERE policy <> 'pause'"), "0");
}

TEST_F(ConsumerSettingsTest, divided_lanes_have_the_position_of_the_former_one) {
  add_webhook("pause", 2);
  for (int account = 1; account <= 8; ++account) like(account);
  session().run("UPDATE skua.consumer_lanes SET pos = CASE lane WHEN 0 THEN 4 ELSE 7 END");
  set({.lanes = std::int16_t{4}});
  EXPECT_EQ(positions(), "4 7 4 7");
  set({.lanes = std::int16_t{1}});
  EXPECT_EQ(positions(), "4") << "the lowest one: some changes are delivered again";
  EXPECT_EQ(value("SELECT lanes FROM skua.consumers"), "1");
}

TEST_F(ConsumerSettingsTest, a_lease_of_a_former_lane_is_lost_and_the_next_one_waits_for_its_end) {
  add_webhook();
  like(1);
  const auto former = take();
  set({.lanes = std::int16_t{2}});
  EXPECT_EQ(acknowledge(session(), former->lease, {}), LeaseResult::Lost);
  EXPECT_EQ(positions(), "1 1");
  const LaneRequest request{.consumer_id = id(), .owner = "a", .ignores_pause = true};
  EXPECT_FALSE(take_lease(session(), request)) << "two owners would have the change";
  EXPECT_EQ(value("SELECT bool_and(retry_at > now() + interval '20 seconds') FROM "
                  "skua.consumer_lanes"),
            "t");
  EXPECT_EQ(take()->changes.size(), 1U) << "after the end of the former lease";
}

TEST_F(ConsumerSettingsTest, lanes_stay_while_a_failed_change_stops_the_consumer) {
  add_webhook();
  like(1);
  const auto taken = take();
  report_failure(session(), taken->lease,
                 {.pos = 1, .error = "poison", .wait = {}, .is_final = true});
  EXPECT_EQ(refusal({.lanes = std::int16_t{2}}),
            "a failed change stopped search: `skua consumers reset search` first, then change its "
            "lanes");
  EXPECT_EQ(refusal({.policy = "skip"}), "");
  reset_consumer(session(), "search");
  EXPECT_EQ(refusal({.lanes = std::int16_t{2}}), "");
}

TEST_F(ConsumerSettingsTest, accounts_that_wait_stay_in_order_when_lanes_are_joined) {
  add_webhook("block_key", 2);
  for (int post = 1; post <= 3; ++post) like(1, post);
  like(2, 1);
  // Lane 1 has passed the changes of the account 1, which wait behind a letter.
  auto taken = take();
  while (taken->changes.front().second != 1) taken = take();
  report_failure(session(), taken->lease,
                 {.pos = 2, .error = "poison", .wait = {}, .is_final = true});
  session().run(
      "UPDATE skua.consumer_lanes SET pos = CASE lane WHEN 0 THEN 1 ELSE 5 END, "
      "owner = NULL, lease_until = NULL, leased_end = NULL, leased_count = NULL");
  set({.lanes = std::int16_t{1}});
  EXPECT_EQ(positions(), "1");
  EXPECT_EQ(value("SELECT lane || ' ' || pos FROM skua.waiting_changes"), "0 2");
  EXPECT_EQ(value("SELECT lane FROM skua.dead_letter"), "0");
  for (const std::int64_t letter : tables::letter_ids(session(), {})) {
    tables::request_replay(session(), letter);
  }
  std::vector<std::int64_t> seen;
  while ((taken = take())) {
    for (const auto& [pos, account] : taken->changes) {
      if (account == 1) seen.push_back(pos);
    }
    acknowledge(session(), taken->lease, {});
  }
  EXPECT_EQ(seen, (std::vector<std::int64_t>{2, 3})) << "once, and in order";
  EXPECT_EQ(value("SELECT count(*) FROM skua.waiting_changes"), "0");
}

/// The number of lanes changes while changes are delivered, fail and wait.
class ChangingLanes : public ConsumerSettingsTest, public testing::WithParamInterface<int> {};

TEST_P(ChangingLanes, deliver_all_changes_of_an_account_in_order) {
  add_webhook("block_key", 4);
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const auto choose = [&](int most) {
    return std::uniform_int_distribution<int>(0, most - 1)(random);
  };
  std::map<AccountNumber, std::vector<std::int64_t>> first_times;
  std::set<std::int64_t> processed;
  std::int64_t post = 0;
  const auto note = [&](const Taken& taken, std::int64_t end) {
    for (const auto& [pos, account] : taken.changes) {
      if (pos < end && processed.insert(pos).second) first_times[account].push_back(pos);
    }
  };
  const auto replay_all = [&] {
    for (const std::int64_t letter :
         tables::letter_ids(session(), {.statuses = {tables::LetterStatus::Dead}})) {
      tables::request_replay(session(), letter);
    }
  };
  for (int step = 0; step < 200; ++step) {
    const int action = choose(10);
    if (action < 4) {
      like(1 + choose(9), ++post);
    } else if (action < 7) {
      if (const auto taken = take()) {
        if (acknowledge(session(), taken->lease, {}) != LeaseResult::Lost) {
          note(*taken, taken->changes.back().first + 1);
        }
      }
    } else if (action < 8) {
      const auto taken = take();
      if (!taken) continue;
      const std::int64_t bad =
          taken->changes
              .at(static_cast<std::size_t>(choose(static_cast<int>(taken->changes.size()))))
              .first;
      report_failure(session(), taken->lease,
                     {.pos = bad, .error = "no", .wait = {}, .is_final = true});
      note(*taken, bad);
    } else if (action < 9) {
      replay_all();
    } else {
      set({.lanes = static_cast<std::int16_t>(1 << choose(4))});
    }
  }
  for (int round = 0; round < 3; ++round) {
    replay_all();
    while (const auto taken = take()) {
      acknowledge(session(), taken->lease, {});
      note(*taken, taken->changes.back().first + 1);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(processed.size()), post) << "nothing is lost";
  for (const auto& [account, order] : first_times) {
    EXPECT_TRUE(std::ranges::is_sorted(order))
        << account << ": " << fmt::format("{}", fmt::join(order, " "));
  }
  EXPECT_EQ(value("SELECT count(*) FROM skua.waiting_changes"), "0");
  EXPECT_EQ(
      value("SELECT count(*) FROM skua.consumer_lanes AS l JOIN skua.consumers AS c ON c.id = "
            "l.consumer_id WHERE l.lane >= c.lanes"),
      "0");
}

INSTANTIATE_TEST_SUITE_P(Seeds, ChangingLanes, testing::Range(1, 7));

TEST_F(ConsumerSettingsTest, other_lanes_of_a_projection_are_those_of_new_tables) {
  add_consumer(session(), {.name = "post_stats", .overrides = R"({"pause_ms": 0})"});
  test::maintain_projections(session());
  like(1);
  test::fold_changes(session());
  EXPECT_FALSE(set({.policy = "skip"}, "post_stats").is_rebuilt);
  EXPECT_FALSE(set({.lanes = std::int16_t{1}}, "post_stats").is_rebuilt) << "it has one lane";
  EXPECT_TRUE(set({.lanes = std::int16_t{4}}, "post_stats").is_rebuilt);
  EXPECT_EQ(state(), "live running, next filling");
  EXPECT_EQ(likes(), "1: 1") << "readers see the present tables";
  EXPECT_TRUE(set({.lanes = std::int16_t{2}}, "post_stats").is_rebuilt);
  EXPECT_EQ(state(), "live running, next filling, retired filling") << "the last number counts";
  like(2);
  test::maintain_projections(session());
  test::fold_changes(session());
  EXPECT_EQ(state(), "live running");
  EXPECT_EQ(likes(), "1: 2");
  EXPECT_EQ(value("SELECT c.lanes || ' ' || count(*) || ' ' || c.policy FROM skua.consumers AS c "
                  "JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id GROUP BY c.id"),
            "2 2 skip");
}

TEST_F(ConsumerSettingsTest, a_wait_after_a_failure_ends_when_the_consumer_is_resumed) {
  add_webhook();
  like(1);
  report_failure(session(), take()->lease,
                 {.pos = {}, .error = "down", .wait = std::chrono::hours(1), .is_temporary = true});
  const LaneRequest request{.consumer_id = id(), .owner = "a", .ignores_pause = true};
  EXPECT_TRUE(find_leased_consumer(session(), "search")->waits_after_failure);
  EXPECT_FALSE(take_lease(session(), request));
  resume_consumer(session(), "search");
  EXPECT_FALSE(find_leased_consumer(session(), "search")->waits_after_failure);
  EXPECT_TRUE(take_lease(session(), request));
}

TEST_F(ConsumerSettingsTest, another_url_is_tried_at_once) {
  add_webhook();
  like(1);
  report_failure(session(), take()->lease,
                 {.pos = {}, .error = "down", .wait = std::chrono::hours(1), .is_temporary = true});
  set({.url = "http://127.0.0.1:1/"});
  EXPECT_FALSE(find_leased_consumer(session(), "search")->waits_after_failure);
}

TEST_F(ConsumerSettingsTest, a_skip_leaves_out_only_the_change_with_its_position) {
  add_webhook("block_lane", 2);
  for (int account = 1; account <= 4; ++account) like(account);
  for (int i = 0; i < 2; ++i) {
    const auto taken = take();
    report_failure(
        session(), taken->lease,
        {.pos = taken->changes.front().first, .error = "no", .wait = {}, .is_final = true});
  }
  EXPECT_EQ(positions(), "2 1");
  EXPECT_THROW(skip_change(session(), "search", 3), ConsumerError) << "no change failed there";
  skip_change(session(), "search", 1);
  EXPECT_THROW(skip_change(session(), "search", 1), ConsumerError) << "a second time";
  EXPECT_EQ(value("SELECT string_agg(lane || ' ' || is_blocked, ', ' ORDER BY lane) FROM "
                  "skua.consumer_lanes"),
            "0 true, 1 false");
  EXPECT_EQ(value("SELECT string_agg(pos::text, ' ') FROM skua.dead_letter"), "1");
  EXPECT_EQ(take()->changes.front().first, 3);
}

TEST_F(ConsumerSettingsTest, a_lane_with_other_failures_is_not_skipped_when_the_consumer_stops) {
  add_webhook("pause", 2);
  for (int account = 1; account <= 2; ++account) like(account);
  std::map<std::int64_t, Taken> taken;
  for (int i = 0; i < 2; ++i) {
    const auto one = take();
    taken[one->changes.front().first] = *one;
  }
  // The change 2 has failed once, and then the change 1 stops the consumer.
  report_failure(session(), taken.at(2).lease, {.pos = 2, .error = "once", .wait = {}});
  report_failure(session(), taken.at(1).lease,
                 {.pos = 1, .error = "never", .wait = {}, .is_final = true});
  EXPECT_EQ(find_leased_consumer(session(), "search")->state, "stopped");
  EXPECT_THROW(skip_change(session(), "search", 2), ConsumerError);
  skip_change(session(), "search", 1);
  EXPECT_EQ(value("SELECT string_agg(pos::text, ' ') FROM skua.dead_letter"), "1");
  EXPECT_EQ(find_leased_consumer(session(), "search")->state, "running");
  EXPECT_EQ(take()->changes.front().first, 2);
}

TEST_F(ConsumerSettingsTest, lists_have_the_lease_the_next_attempt_and_the_letters) {
  add_webhook("skip");
  for (int account = 1; account <= 3; ++account) like(account);
  report_failure(session(), take()->lease, {.pos = 1, .error = "no", .wait = {}, .is_final = true});
  const auto taken = take();
  const Consumer consumer = read_consumers(session()).at(0);
  EXPECT_EQ(consumer.letters, 1);
  const ConsumerLane& lane = consumer.lanes.at(0);
  EXPECT_TRUE(lane.is_leased);
  EXPECT_EQ(lane.lease_owner, taken->lease.owner.substr(0, 8));
  EXPECT_GT(lane.lease_ends_in, std::chrono::seconds(20));
  EXPECT_LE(lane.lease_ends_in, std::chrono::seconds(30));
  EXPECT_TRUE(lane.lease_until);
  EXPECT_EQ(lane.behind, 2);
}

TEST_F(ConsumerSettingsTest, the_number_of_lanes_that_are_leased_at_the_same_time_is_limited) {
  add_webhook("pause", 4);
  for (int account = 1; account <= 4; ++account) like(account);
  const LaneRequest request{
      .consumer_id = id(), .owner = "a", .ignores_pause = true, .processors = 2};
  EXPECT_TRUE(take_lease(session(), request));
  EXPECT_TRUE(take_lease(session(), request));
  EXPECT_FALSE(take_lease(session(), request));
  session().run(
      "UPDATE skua.consumer_lanes SET lease_until = now() - interval '1 second' WHERE "
      "owner IS NOT NULL AND lane = (SELECT min(lane) FROM skua.consumer_lanes WHERE "
      "owner IS NOT NULL)");
  EXPECT_TRUE(take_lease(session(), request));
}

TEST_F(ConsumerSettingsTest, sessions_that_lease_at_the_same_time_do_not_exceed_the_limit) {
  add_webhook("pause", 4);
  for (int account = 1; account <= 4; ++account) like(account);
  const LaneRequest request{
      .consumer_id = id(), .owner = "a", .ignores_pause = true, .processors = 2};
  ASSERT_TRUE(take_lease(session(), request));
  // The first of two sessions has chosen a lane and not committed.
  postgres::Session first(database_.url(), "first");
  postgres::Session second(database_.url(), "second");
  postgres::Transaction open(first);
  first.run(fmt::format("SELECT pg_advisory_xact_lock(1936422153, {})", request.consumer_id));
  first.run(
      "UPDATE skua.consumer_lanes SET owner = 'b', leased_at = now(), leased_end = 1, leased_count "
      "= 0, "
      "lease_until "
      "= now() + interval '1 minute' WHERE lane = (SELECT max(lane) FROM skua.consumer_lanes WHERE "
      "owner IS NULL)");
  auto waiting = std::async(std::launch::async, [&] { return take_lease(second, request); });
  while (!test::a_session_waits_for_a_lock(session())) {
    ASSERT_NE(waiting.wait_for(std::chrono::milliseconds(1)), std::future_status::ready)
        << "the second session did not wait";
  }
  open.commit();
  EXPECT_FALSE(waiting.get());
  EXPECT_EQ(value("SELECT count(owner) FROM skua.consumer_lanes"), "2");
}

TEST_F(ConsumerSettingsTest, sessions_that_cannot_exceed_the_limit_do_not_wait) {
  add_webhook("pause", 2);
  for (int account = 1; account <= 2; ++account) like(account);
  postgres::Session first(database_.url(), "first");
  const postgres::Transaction open(first);
  first.run(fmt::format("SELECT pg_advisory_xact_lock(1936422153, {})", id()));
  session().run("SET lock_timeout = '1s'");
  EXPECT_TRUE(take_lease(session(), {.consumer_id = id(), .owner = "a", .processors = 2}));
}

TEST_F(ConsumerSettingsTest, overrides_mean_the_same_in_statements_and_in_lists) {
  for (const char* overrides :
       {"{}", R"({"batch": 5, "pause_ms": 0})", R"({"batch": "17"})", R"({"batch": "many"})",
        R"({"batch": -1})", R"({"batch": 2.5})", R"({"retry_ms": 1e3})",
        R"({"batch": 99999999999})", R"({"max_attempts": null})", "[1]", R"({"batch": ""})",
        R"({"batch": true})"}) {
    SCOPED_TRACE(overrides);
    const Tuning profile = tuning_of("default", "{}");
    const Tuning tuning = tuning_of("default", value(fmt::format("SELECT '{}'::jsonb", overrides)));
    EXPECT_EQ(value(fmt::format("SELECT concat_ws(' ', coalesce(o.batch, {}), coalesce(o.pause_ms, "
                                "{}), coalesce(o.max_attempts, {}), coalesce(o.retry_ms, {})) FROM "
                                "skua.tuning_overrides('{}') AS o",
                                profile.batch, profile.pause.count(), profile.max_attempts,
                                profile.retry.count(), overrides)),
              fmt::format("{} {} {} {}", tuning.batch, tuning.pause.count(), tuning.max_attempts,
                          tuning.retry.count()));
  }
}

}  // namespace
}  // namespace skua::consumers::consumer_settings_test
