#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_outcomes.hpp"
#include "backfill/queue/job_table.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::job_counts_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;

const std::string kHolder = "skua backfill pid 1 at here";

class JobCountsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  void add(const std::string& name, int count, const std::string& host) {
    std::vector<NewJob> jobs;
    for (int i = 0; i < count; ++i) jobs.push_back({name + std::to_string(i), host});
    add_jobs(session(), jobs, Again::Yes, clock_.now());
  }
  std::vector<Job> lease_next(const std::string& host, std::size_t limit) {
    return lease_jobs(session(), Place::at(host), limit, {kHolder, clock_.now()});
  }
  void fail(const std::string& host, const std::string& reason, std::size_t limit, int attempts) {
    std::vector<JobError> errors;
    for (const Job& job : lease_next(host, limit)) errors.push_back({job.did, reason});
    jobs_failed(session(), errors, kHolder, clock_.now(), attempts);
  }

  test::ManualClock clock_;
};

TEST_F(JobCountsTest, an_empty_table_counts_nothing) {
  const JobCounts counts = job_counts(session(), 10);
  EXPECT_TRUE(counts.exact);
  EXPECT_TRUE(counts.by_state.empty());
  EXPECT_TRUE(counts.hosts.empty());
  EXPECT_TRUE(counts.errors.empty());
  EXPECT_EQ(counts.next_due, std::nullopt);
}

TEST_F(JobCountsTest, a_small_table_is_counted) {
  add("small", 3, "https://small.test");
  add("big", 20, "https://big.test");
  add("done", 9, "https://done.test");
  add_jobs(session(), std::vector<NewJob>{{"homeless"}}, Again::Yes, clock_.now() - 1h);
  for (const Job& job : lease_next("https://done.test", 9)) {
    finish_jobs(session(), std::vector<FinishedJob>{{job.did, {1}}}, kHolder, clock_.now());
  }
  lease_next("https://big.test", 4);
  fail("https://small.test", "no answer", 2, 1);
  const JobCounts counts = job_counts(session(), 2);
  EXPECT_TRUE(counts.exact);
  EXPECT_THAT(counts.by_state, ElementsAre(Pair(JobState::Queued, 18), Pair(JobState::Running, 4),
                                           Pair(JobState::Done, 9), Pair(JobState::Failed, 2)));
  ASSERT_EQ(counts.hosts.size(), 2U);
  EXPECT_EQ(counts.hosts[0].host, "https://big.test");
  EXPECT_EQ(counts.hosts[0].queued, 16);
  EXPECT_EQ(counts.hosts[0].running, 4);
  EXPECT_EQ(counts.hosts[1].host, "https://small.test");
  EXPECT_EQ(counts.hosts[1].ended_otherwise, 2);
  EXPECT_EQ(counts.next_due, clock_.now() - 1h);
}

TEST_F(JobCountsTest, errors_are_grouped_most_frequent_first) {
  add("job", 10, "https://pds.test");
  fail("https://pds.test", "wrong signature", 1, 1);
  clock_.advance(1min);
  fail("https://pds.test", "no answer", 3, 1);
  clock_.advance(1min);
  fail("https://pds.test", "no answer", 2, 9);
  const JobCounts counts = job_counts(session(), 10);
  ASSERT_EQ(counts.errors.size(), 3U);
  EXPECT_EQ(counts.errors[0].state, JobState::Failed);
  EXPECT_EQ(counts.errors[0].reason, "no answer");
  EXPECT_EQ(counts.errors[0].jobs, 3);
  EXPECT_EQ(counts.errors[0].last, clock_.now() - 1min);
  EXPECT_EQ(counts.errors[1].state, JobState::Queued);
  EXPECT_EQ(counts.errors[1].jobs, 2);
  EXPECT_EQ(counts.errors[2].reason, "wrong signature");
}

TEST_F(JobCountsTest, a_large_table_is_projected_but_a_single_failure_shows) {
  constexpr int kJobs = 30'000;
  add("job", kJobs, "https://pds.test");
  add("other", 1, "https://other.test");
  fail("https://other.test", "no answer", 1, 1);
  lease_next("https://pds.test", 7);
  const JobCounts counts = job_counts(session(), 10, 100);
  EXPECT_FALSE(counts.exact);
  EXPECT_EQ(counts.by_state.at(JobState::Running), 7);
  EXPECT_EQ(counts.by_state.at(JobState::Failed), 1);
  // Blocks are drawn, each with about as many jobs: half and double leave room for bad luck.
  EXPECT_GT(counts.by_state.at(JobState::Queued), kJobs / 2);
  EXPECT_LT(counts.by_state.at(JobState::Queued), kJobs * 2);
  EXPECT_EQ(counts.hosts.at(0).host, "https://pds.test");
  ASSERT_EQ(counts.errors.size(), 1U);
}

}  // namespace
}  // namespace skua::backfill::job_counts_test
