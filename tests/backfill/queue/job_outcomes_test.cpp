#include "backfill/queue/job_outcomes.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_table.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/repository_table.hpp"
#include "writer/account_changes.hpp"

namespace skua::backfill::job_outcomes_test {
namespace {

using namespace std::chrono_literals;

const std::string kHolder = "skua outcomes test";
const std::string kHost = "https://pds.test";
constexpr int kAttempts = 3;

class JobOutcomesTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  void lease(const std::vector<std::string>& dids) {
    std::vector<NewJob> jobs;
    for (const std::string& did : dids) jobs.push_back({did, kHost});
    add_jobs(session(), jobs, Again::Yes, clock_.now());
    ASSERT_EQ(lease_jobs(session(), Place::at(kHost), 100, {kHolder, clock_.now()}).size(),
              dids.size());
  }
  void end(const std::string& did, JobEnd how) { outcomes_.add(did, std::move(how)); }
  std::string job(const std::string& did) {
    return value(
        "SELECT concat_ws(' ', state, attempts, coalesce(error, '-')) FROM "
        "skua.backfill_jobs WHERE did = '" +
        did + "'");
  }

  test::ManualClock clock_;
  BackfillCounters counters_;
  JobOutcomes outcomes_{kHolder, kAttempts, clock_, counters_};
};

TEST_F(JobOutcomesTest, each_end_is_written_as_what_it_is) {
  lease({"moved", "limited", "gone", "failed", "hopeless"});
  end("moved", JobMoved{"https://other.test"});
  end("limited", JobPostponed{"429", 30s});
  end("gone", JobUnavailable{"RepoNotFound"});
  end("failed", JobFailed{"no answer"});
  end("hopeless", JobFailed{.reason = "it is empty", .is_final = true});
  EXPECT_EQ(job("gone"), "running 1 -") << "until it is written";
  outcomes_.write(session());
  EXPECT_EQ(job("moved"), "queued 0 -");
  EXPECT_EQ(value("SELECT host FROM skua.backfill_jobs WHERE did = 'moved'"), "https://other.test");
  EXPECT_EQ(job("limited"), "queued 0 429");
  EXPECT_EQ(job("gone"), "unavailable 1 RepoNotFound");
  EXPECT_EQ(job("failed"), "queued 1 no answer");
  EXPECT_EQ(job("hopeless"), "failed 1 it is empty");
  EXPECT_EQ(counters_.postponed, 1U);
  EXPECT_EQ(counters_.unavailable, 1U);
  EXPECT_EQ(counters_.failed, 2U);
  EXPECT_EQ(counters_.abandoned, 1U);
}

TEST_F(JobOutcomesTest, each_end_is_written_once) {
  lease({"a"});
  end("a", JobFailed{"no answer"});
  outcomes_.write(session());
  outcomes_.write(session());
  EXPECT_EQ(counters_.failed, 1U);
}

TEST_F(JobOutcomesTest, ends_that_could_not_be_written_are_kept) {
  lease({"a"});
  end("a", JobFailed{"no answer"});
  {
    postgres::Session broken(database_.url(), "broken");
    session().run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'broken' AND datname = current_database()");
    EXPECT_THROW(outcomes_.write(broken), postgres::ServerError);
  }
  EXPECT_EQ(counters_.failed, 0U);
  outcomes_.write(session());
  EXPECT_EQ(job("a"), "queued 1 no answer");
  EXPECT_EQ(counters_.failed, 1U);
}

TEST_F(JobOutcomesTest, a_job_that_is_done_or_lost_or_was_interrupted_has_nothing_to_write) {
  lease({"a", "b", "c"});
  end("a", JobDone{});
  end("b", JobLost{});
  end("c", JobStopped{});
  outcomes_.write(session());
  for (const auto* did : {"a", "b", "c"}) EXPECT_EQ(job(did), "running 1 -");
}

TEST_F(JobOutcomesTest, a_resync_that_is_unavailable_has_failed) {
  lease({"a"});
  tables::ask_for_resync(session(), "a", clock_.now());
  end("a", JobUnavailable{"RepoDeactivated"});
  outcomes_.write(session());
  EXPECT_EQ(value("SELECT error FROM skua.repositories WHERE did = 'a'"), "RepoDeactivated");
}

TEST_F(JobOutcomesTest, a_deletion_that_the_host_confirms_is_settled) {
  lease({"gone", "active", "refused"});
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at, active, status, status_time) VALUES "
      "('gone', now(), false, 'deleted', '2026-01-01Z'), "
      "('active', now(), true, NULL, '2026-01-01Z'), "
      "('refused', now(), false, 'deleted', '2026-01-01Z')");
  for (const auto* did : {"gone", "active", "refused"}) {
    tables::ask_for_resync(session(), did, clock_.now());
    end(did, JobUnavailable{"RepoNotFound", std::string(did) != "refused"});
  }
  outcomes_.write(session());
  EXPECT_EQ(value("SELECT string_agg(did || ' ' || state, ', ' ORDER BY did) FROM "
                  "skua.repositories"),
            "active desynchronized, gone complete, refused desynchronized");
  EXPECT_EQ(value("SELECT string_agg(did, ' ') FROM bsky.actors WHERE floor_rev = "
                  "(extract(epoch FROM status_time) * 1000000)::int8 * 1024 + 1023"),
            "gone");
  EXPECT_EQ(job("gone"), "unavailable 1 RepoNotFound");
}

TEST_F(JobOutcomesTest, a_deleted_account_with_many_records_delays_no_job) {
  lease({"huge", "small", "failed"});
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at, active, status, status_time) "
      "SELECT did, now(), false, 'deleted', '2026-01-01Z' FROM unnest(ARRAY['huge', 'small']) did; "
      "INSERT INTO bsky.collections (nsid) VALUES ('com.example.thing'); "
      "INSERT INTO bsky.records "
      "SELECT n, 10, now(), a.id, c.id, sha256(''), '{}' "
      "FROM bsky.actors a, bsky.collections c, generate_series(1, 12000) n "
      "WHERE c.nsid = 'com.example.thing' AND (a.did = 'huge' OR n < 3)");
  const auto records = [&] {
    return value(
        "SELECT concat_ws(' ', count(*) FILTER (WHERE a.did = 'huge'), "
        "count(*) FILTER (WHERE a.did = 'small')) FROM bsky.actors a JOIN bsky.records r "
        "ON r.actor_id = a.id");
  };
  ASSERT_EQ(records(), "12000 2");
  end("huge", JobUnavailable{"RepoNotFound", true});
  end("small", JobUnavailable{"RepoNotFound", true});
  end("failed", JobFailed{"no answer"});
  outcomes_.write(session());
  EXPECT_EQ(records(), "7000 2");
  EXPECT_EQ(job("failed"), "queued 1 no answer");
  EXPECT_EQ(job("small"), "unavailable 1 RepoNotFound");
  EXPECT_EQ(job("huge"), "unavailable 1 RepoNotFound");
  EXPECT_EQ(counters_.unavailable, 2U);
  EXPECT_EQ(writer::purges_after(session(), ""), (std::vector<std::string>{"huge", "small"}));
}

TEST_F(JobOutcomesTest, the_last_attempt_is_counted_as_abandoned) {
  lease({"a"});
  session().run("UPDATE skua.backfill_jobs SET attempts = " + std::to_string(kAttempts));
  end("a", JobFailed{"no answer"});
  outcomes_.write(session());
  EXPECT_EQ(job("a"), "failed 3 no answer");
  EXPECT_EQ(counters_.abandoned, 1U);
}

}  // namespace
}  // namespace skua::backfill::job_outcomes_test
