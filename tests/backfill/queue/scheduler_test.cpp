#include "backfill/queue/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/discovery/host_table.hpp"
#include "backfill/queue/job_table.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/repository_table.hpp"

namespace skua::backfill::scheduler_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kHolder = "skua scheduler test";
const std::string kHost = "https://pds.test";
const std::string kOther = "https://pds.other.test";

class SchedulerTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  void open(Scheduler::Options options = {}) {
    options.lease_owner = kHolder;
    options.start = [this](LeasedJob leased) { started_.push_back(std::move(leased)); };
    scheduler_ = std::make_unique<Scheduler>(std::move(options), clock_, monotonic_, counters_);
  }
  void add(const std::string& did, std::optional<std::string> host = kHost) {
    add_jobs(session(), std::vector<NewJob>{{.did = did, .host = std::move(host)}}, Again::Yes,
             clock_.now());
  }
  /// The DIDs of the jobs that a tick starts.
  std::vector<std::string> tick(bool at_once = false) {
    const std::size_t before = started_.size();
    scheduler_->tick(session(), at_once);
    std::vector<std::string> dids;
    for (std::size_t i = before; i < started_.size(); ++i) dids.push_back(started_[i].job.did);
    std::sort(dids.begin(), dids.end());
    return dids;
  }
  void advance(std::chrono::microseconds by) {
    clock_.advance(by);
    monotonic_.advance(by);
  }
  void release(std::size_t started, HostOutcome::End end = HostOutcome::End::Answered) {
    scheduler_->release_slot(started_.at(started), {{.end = end}});
  }
  std::string job(const std::string& did, const std::string& expression) {
    return value("SELECT " + expression + " FROM skua.backfill_jobs WHERE did = '" + did + "'");
  }

  test::ManualClock clock_;
  test::ManualClock monotonic_;
  BackfillCounters counters_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<LeasedJob> started_;
};

TEST_F(SchedulerTest, a_host_has_as_many_jobs_as_slots_and_the_next_starts_when_one_is_free) {
  open({.limits = {.host = {.at_first = 1}}});
  add("a");
  EXPECT_THAT(tick(), ElementsAre("a"));
  add("b");
  EXPECT_THAT(tick(true), IsEmpty());
  release(0);
  EXPECT_THAT(tick(), ElementsAre("b")) << "although the first job has not ended";
  EXPECT_EQ(counters_.in_hand, 2U);
}

TEST_F(SchedulerTest, it_looks_again_a_second_after_it_found_nothing_or_when_it_is_told) {
  open();
  EXPECT_THAT(tick(), IsEmpty());
  add("a");
  monotonic_.advance(999ms);
  EXPECT_THAT(tick(), IsEmpty());
  EXPECT_THAT(tick(true), ElementsAre("a"));
  EXPECT_THAT(tick(), IsEmpty());
  add("b");
  EXPECT_THAT(tick(), IsEmpty());
  monotonic_.advance(1s);
  EXPECT_THAT(tick(), ElementsAre("b"));
}

TEST_F(SchedulerTest, an_ended_job_makes_it_look_at_once) {
  open();
  add("a", std::nullopt);
  EXPECT_THAT(tick(), ElementsAre("a"));
  EXPECT_THAT(tick(), IsEmpty());
  add("b", std::nullopt);
  scheduler_->closed(started_[0].job);
  EXPECT_THAT(tick(), ElementsAre("b"));
  EXPECT_EQ(counters_.in_hand, 1U);
}

TEST_F(SchedulerTest, no_download_starts_while_too_much_is_in_memory) {
  open({.held_bytes = 1'000});
  add("a");
  counters_.held_bytes = 1'000;
  EXPECT_THAT(tick(true), IsEmpty());
  counters_.held_bytes = 999;
  EXPECT_THAT(tick(true), ElementsAre("a"));
}

TEST_F(SchedulerTest, jobs_without_a_host_need_no_memory) {
  open({.held_bytes = 1'000});
  counters_.held_bytes = 1'000;
  add("a", std::nullopt);
  EXPECT_THAT(tick(), ElementsAre("a"));
}

TEST_F(SchedulerTest, jobs_without_a_host_stay_queued_if_hosts_cannot_be_found) {
  open({.finds_hosts = false});
  add("a", std::nullopt);
  EXPECT_THAT(tick(), IsEmpty());
  EXPECT_EQ(job("a", "state"), "queued");
}

TEST_F(SchedulerTest, the_number_of_open_jobs_is_bounded) {
  open();
  std::vector<NewJob> jobs;
  for (int i = 0; i < 450; ++i) {
    jobs.push_back({.did = "did:plc:" + std::to_string(i), .file = "/tmp/some.car"});
  }
  add_jobs(session(), jobs, Again::Yes, clock_.now());
  for (int i = 0; i < 5; ++i) tick();
  EXPECT_EQ(started_.size(), 400U);
  EXPECT_EQ(counters_.in_hand, 400U);
  scheduler_->closed(started_[0].job);
  tick();
  // Jobs are leased by the hundred.
  EXPECT_EQ(started_.size(), 450U);
}

TEST_F(SchedulerTest, leases_are_renewed_every_half_minute) {
  open();
  add("a");
  tick();
  const auto lease = [&] {
    return job("a",
               "extract(epoch FROM lease_until - '" + format_datetime(clock_.now()) + "')::int");
  };
  EXPECT_EQ(lease(), "600");
  advance(29s);
  tick();
  EXPECT_EQ(lease(), "571");
  advance(1s);
  tick();
  EXPECT_EQ(lease(), "600");
}

TEST_F(SchedulerTest, an_expired_lease_of_another_process_is_reclaimed) {
  open();
  tick();
  add("a");
  const postgres::Session alive(database_.url(), "skua other");
  ASSERT_EQ(lease_jobs(session(), Place::at(kHost), 1, {"skua other", clock_.now(), 10s}).size(),
            1U);
  advance(29s);
  EXPECT_THAT(tick(), IsEmpty());
  advance(1s);
  EXPECT_THAT(tick(), ElementsAre("a"));
}

TEST_F(SchedulerTest, the_first_tick_reclaims_the_jobs_of_a_process_that_has_ended) {
  add("a");
  ASSERT_EQ(lease_jobs(session(), Place::at(kHost), 1, {"skua killed", clock_.now()}).size(), 1U);
  open();
  EXPECT_THAT(tick(), ElementsAre("a"));
}

TEST_F(SchedulerTest, an_account_that_breaks_again_and_again_is_downloaded_at_its_share) {
  open({.resync = true});
  const auto break_and_look = [&] {
    tables::ask_for_resync(session(), "a", clock_.now());
    advance(5s);
    const auto dids = tick(true);
    if (!dids.empty()) scheduler_->closed(started_.back().job);
    if (!dids.empty()) session().run("DELETE FROM skua.backfill_jobs");
    return dids.size();
  };
  std::size_t downloads = 0;
  for (int i = 0; i < 100; ++i) downloads += break_and_look();
  EXPECT_EQ(downloads, 10U);
  // Another account is not affected, and this one has its turn later.
  tables::ask_for_resync(session(), "b", clock_.now());
  advance(5s);
  EXPECT_THAT(tick(true), ElementsAre("b"));
  session().run("DELETE FROM skua.backfill_jobs");
  advance(10min);
  EXPECT_THAT(tick(true), ElementsAre("a"));
}

TEST_F(SchedulerTest, a_host_whose_commits_cannot_be_applied_gets_resyncs_at_its_share) {
  open({.resync = true});
  std::vector<tables::Gap> gaps;
  for (int i = 0; i < 1'200; ++i) gaps.push_back({"did:plc:" + std::to_string(100'000 + i)});
  tables::desynchronize(session(), gaps, clock_.now());
  session().run(
      "INSERT INTO skua.identities (did, pds, fetched_at) SELECT did, 'https://pds' || right(did, "
      "1) "
      "|| '.hostile.test', now() FROM skua.repositories");
  const auto queued = [&] { return std::stoi(value("SELECT count(*) FROM skua.backfill_jobs")); };
  for (int i = 0; i < 4; ++i) {
    tick(true);
    advance(5s);
  }
  EXPECT_GE(queued(), 500);
  EXPECT_LE(queued(), 520);
  // An honest account waits for nobody.
  tables::desynchronize(session(), std::vector<tables::Gap>{{"did:plc:honest"}}, clock_.now());
  session().run(
      "INSERT INTO skua.identities (did, pds, fetched_at) VALUES ('did:plc:honest', "
      "'https://pds.honest.test', now())");
  tick(true);
  EXPECT_EQ(job("did:plc:honest", "count(*)"), "1");
  // The others follow, one a second.
  for (int i = 0; i < 200; ++i) {
    advance(5s);
    tick(true);
  }
  EXPECT_EQ(queued(), 1'201);
}

TEST_F(SchedulerTest, a_due_resync_becomes_a_job_if_that_is_wanted) {
  tables::ask_for_resync(session(), "a", clock_.now());
  open();
  EXPECT_THAT(tick(), IsEmpty());
  open({.resync = true});
  EXPECT_THAT(tick(), ElementsAre("a"));
}

TEST_F(SchedulerTest, a_failed_job_is_retried_after_a_day_or_two) {
  open();
  add("a");
  session().run("UPDATE skua.backfill_jobs SET state = 'failed', next_attempt = '" +
                format_datetime(clock_.now() + 24h) + "'");
  EXPECT_THAT(tick(), IsEmpty());
  advance(23h);
  EXPECT_THAT(tick(), IsEmpty());
  advance(1h);
  EXPECT_THAT(tick(), ElementsAre("a"));
}

TEST_F(SchedulerTest, only_jobs_of_the_named_accounts_start) {
  open({.only = {"b"}});
  add("a");
  add("b");
  EXPECT_THAT(tick(), ElementsAre("b"));
  EXPECT_FALSE(scheduler_->is_idle());
  session().run(
      "UPDATE skua.backfill_jobs SET state = 'done', lease_until = NULL, lease_owner = NULL "
      "WHERE did = 'b'");
  release(0);
  scheduler_->closed(started_[0].job);
  tick();
  EXPECT_TRUE(scheduler_->is_idle()) << "whatever other accounts have";
}

TEST_F(SchedulerTest, it_is_idle_when_no_job_is_open_or_queued) {
  open();
  EXPECT_FALSE(scheduler_->is_idle()) << "before the first look";
  tick();
  EXPECT_TRUE(scheduler_->is_idle());
  add("a");
  tick(true);
  EXPECT_FALSE(scheduler_->is_idle());
  session().run(
      "UPDATE skua.backfill_jobs SET state = 'done', lease_until = NULL, lease_owner = NULL");
  tick(true);
  EXPECT_FALSE(scheduler_->is_idle()) << "its end is not known yet";
  release(0);
  scheduler_->closed(started_[0].job);
  tick();
  EXPECT_TRUE(scheduler_->is_idle());
}

TEST_F(SchedulerTest, a_job_knows_what_is_stored_of_its_account) {
  session().run("INSERT INTO skua.repositories (did, rev, data) VALUES ('a', 7, '\\x" +
                std::string(64, '0') + "')");
  open();
  add("a");
  add("b");
  tick();
  ASSERT_EQ(started_.size(), 2U);
  for (const LeasedJob& leased : started_) {
    EXPECT_EQ(leased.known.has_value(), leased.job.did == "a");
    EXPECT_NE(leased.filter, nullptr);
    EXPECT_EQ(leased.started_at, monotonic_.now());
    EXPECT_EQ(leased.host_origin, transport::HostOrigin::network);
  }
}

TEST_F(SchedulerTest, a_host_that_the_operator_named_may_have_any_address) {
  add_lists(session(), std::vector<HostList>{{.host = kHost, .is_operator_specified = true}},
            Again::Yes, clock_.now());
  open();
  add("a");
  add("b", kOther);
  tick();
  ASSERT_EQ(started_.size(), 2U);
  for (const LeasedJob& leased : started_) {
    EXPECT_EQ(leased.host_origin, leased.job.host == kHost ? transport::HostOrigin::configured
                                                           : transport::HostOrigin::network);
  }
}

TEST_F(SchedulerTest, a_host_that_asks_to_wait_gets_no_job_until_then) {
  open();
  add("a");
  add("b");
  clock_.advance(1h);
  tick();
  ASSERT_EQ(started_.size(), 2U);
  add("c");
  scheduler_->release_slot(started_[0], {{.end = HostOutcome::End::Limited, .asked_wait = 60s}});
  release(1, HostOutcome::End::Ours);
  EXPECT_THAT(tick(), IsEmpty());
  const auto hosts = scheduler_->host_metrics();
  ASSERT_EQ(hosts.size(), 1U);
  EXPECT_EQ(hosts[0].waits_until, clock_.now() + 60s) << "by the clock of the jobs";
  advance(60s);
  EXPECT_THAT(tick(), ElementsAre("c"));
}

}  // namespace
}  // namespace skua::backfill::scheduler_test
