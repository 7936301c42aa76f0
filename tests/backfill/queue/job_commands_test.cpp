#include "backfill/queue/job_commands.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_outcomes.hpp"
#include "backfill/queue/job_table.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::job_commands_test {
namespace {

using namespace std::chrono_literals;

const std::string kHolder = "skua backfill pid 1 at here";

/// A job of each state, named for it, at each of two hosts.
class JobCommandsTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    for (const std::string host : {"a", "b"}) {
      for (const std::string state :
           {"queued", "waiting", "running", "done", "unavailable", "failed", "cancelled"}) {
        session().run(
            "INSERT INTO skua.backfill_jobs (did, host, state, attempts, created_at, next_attempt, "
            "error, lease_until, lease_owner) VALUES ('" +
            state + "_" + host + "', 'https://" + host + ".test', '" +
            (state == "waiting" ? "queued" : state) +
            "', 3, '2026-01-01', '2026-01-01'::timestamptz + CASE WHEN '" + state +
            "' = 'waiting' THEN interval '1 year' ELSE interval '0' END, 'words', " +
            (state == "running" ? "'2026-02-01', '" + kHolder + "'" : "NULL, NULL") + ")");
      }
    }
  }

  /// The jobs that are due now and have all their attempts left.
  std::string renewed() {
    return value(
        "SELECT string_agg(did, ' ' ORDER BY did) FROM skua.backfill_jobs WHERE state = 'queued' "
        "AND attempts = 0 AND error IS NULL AND next_attempt = '2026-01-02' AND lease_until IS "
        "NULL");
  }
  std::string cancelled() {
    return value(
        "SELECT string_agg(did, ' ' ORDER BY did) FROM skua.backfill_jobs "
        "WHERE state = 'cancelled' AND finished_at = '2026-01-02'");
  }

  test::ManualClock clock_;
};

struct Retry {
  const char* name;
  JobFilter filter;
  std::size_t count;
  const char* renewed;
};

class RetryJobs : public JobCommandsTest, public testing::WithParamInterface<Retry> {};

TEST_P(RetryJobs, queues_again) {
  EXPECT_EQ(retry_jobs(session(), GetParam().filter, clock_.now()), GetParam().count);
  EXPECT_EQ(renewed(), GetParam().renewed);
  EXPECT_EQ(retry_jobs(session(), GetParam().filter, clock_.now()), 0U) << "they are queued now";
  EXPECT_EQ(value("SELECT count(*) FROM skua.backfill_jobs WHERE state = 'running'"), "2");
}

INSTANTIATE_TEST_SUITE_P(
    JobTable, RetryJobs,
    testing::Values(
        Retry{"all", {}, 6, "failed_a failed_b unavailable_a unavailable_b waiting_a waiting_b"},
        Retry{"a_host", {{}, "https://b.test", {}}, 3, "failed_b unavailable_b waiting_b"},
        Retry{"no_such_host", {{}, "https://c.test", {}}, 0, ""},
        Retry{"a_state", {{}, {}, {JobState::Done}}, 2, "done_a done_b"},
        Retry{"running", {{}, {}, {JobState::Running}}, 0, ""},
        Retry{"states_of_a_host",
              {{}, "https://a.test", {JobState::Cancelled, JobState::Failed}},
              2,
              "cancelled_a failed_a"},
        Retry{"named",
              {{"done_a", "cancelled_b", "failed_a", "queued_a", "running_a", "nobody"}, {}, {}},
              3,
              "cancelled_b done_a failed_a"},
        Retry{"named_of_a_state", {{"done_a", "failed_a"}, {}, {JobState::Failed}}, 1, "failed_a"}),
    [](const auto& test) { return test.param.name; });

struct Cancel {
  const char* name;
  JobFilter filter;
  std::size_t count;
  const char* cancelled;
};

class CancelJobs : public JobCommandsTest, public testing::WithParamInterface<Cancel> {};

TEST_P(CancelJobs, ends) {
  EXPECT_EQ(cancel_jobs(session(), GetParam().filter, clock_.now()), GetParam().count);
  EXPECT_EQ(cancelled(), GetParam().cancelled);
  EXPECT_EQ(cancel_jobs(session(), GetParam().filter, clock_.now()), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    JobTable, CancelJobs,
    testing::Values(
        Cancel{"all", {}, 6, "queued_a queued_b running_a running_b waiting_a waiting_b"},
        Cancel{"a_host", {{}, "https://a.test", {}}, 3, "queued_a running_a waiting_a"},
        Cancel{"a_state", {{}, {}, {JobState::Failed}}, 2, "failed_a failed_b"},
        Cancel{"named", {{"running_a", "done_a"}, {}, {}}, 1, "running_a"}),
    [](const auto& test) { return test.param.name; });

TEST_F(JobCommandsTest, a_cancelled_job_is_its_holders_no_more) {
  cancel_jobs(session(), {{"running_a"}, {}, {}}, clock_.now());
  const std::vector<FinishedJob> both{{"running_a", {7}}, {"running_b", {7}}};
  EXPECT_THAT(finish_jobs(session(), both, kHolder, clock_.now()),
              testing::ElementsAre("running_b"));
  EXPECT_EQ(release_jobs(session(), kHolder), 0U);
}

TEST_F(JobCommandsTest, a_table_of_many_blocks_is_changed_to_its_end) {
  session().run(
      "INSERT INTO skua.backfill_jobs (did, host, created_at, next_attempt) "
      "SELECT 'did:plc:' || repeat('x', 500) || i, 'https://many.test', now(), now() "
      "FROM generate_series(1, 12000) AS i");
  const JobFilter many{{}, "https://many.test", {}};
  EXPECT_EQ(cancel_jobs(session(), many, clock_.now()), 12'000U);
  EXPECT_EQ(retry_jobs(session(), {{}, "https://many.test", {JobState::Cancelled}}, clock_.now()),
            12'000U);
}

TEST_F(JobCommandsTest, jobs_are_read_by_account) {
  const std::vector<std::string> dids = {"running_a", "nobody", "done_b"};
  session().run(
      "UPDATE skua.backfill_jobs SET rev = 7, records = 3, error = NULL, "
      "finished_at = '2026-01-02' WHERE did = 'done_b'");
  const std::vector<JobRow> jobs = read_jobs(session(), dids);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].did, "done_b");
  EXPECT_EQ(jobs[0].state, JobState::Done);
  EXPECT_EQ(jobs[0].error, std::nullopt);
  EXPECT_EQ(jobs[0].lease_owner, std::nullopt);
  EXPECT_EQ(jobs[0].rev, atproto::Tid{7});
  EXPECT_EQ(jobs[0].records, 3);
  EXPECT_EQ(jobs[0].finished_at, clock_.now());
  EXPECT_EQ(jobs[1].state, JobState::Running);
  EXPECT_EQ(jobs[1].lease_owner, kHolder);
  EXPECT_EQ(jobs[1].host, "https://a.test");
  EXPECT_EQ(jobs[1].error, "words");
  EXPECT_EQ(jobs[1].rev, std::nullopt);
  EXPECT_EQ(jobs[1].attempts, 3);
  EXPECT_EQ(jobs[1].next_attempt + 24h, clock_.now());
}

TEST(JobStateTest, names_lead_there_and_back) {
  for (const JobState state : {JobState::Queued, JobState::Running, JobState::Done,
                               JobState::Unavailable, JobState::Failed, JobState::Cancelled}) {
    EXPECT_EQ(job_state(to_string(state)), state);
  }
  EXPECT_EQ(job_state("Done"), std::nullopt);
}

}  // namespace
}  // namespace skua::backfill::job_commands_test
