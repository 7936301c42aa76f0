#include "backfill/queue/job_table.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_outcomes.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::job_table_test {
namespace {

using namespace std::chrono_literals;
using postgres::Session;
using postgres::Transaction;
using testing::ElementsAre;
using testing::IsEmpty;

using Dids = std::vector<std::string>;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kCarol = "did:plc:carol";
const std::string kHost = "https://pds.test";
const std::string kOther = "https://other.test";
const std::string kHolder = "skua backfill pid 1 at here";

class JobTableTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::size_t add(const std::vector<NewJob>& jobs, Again again = Again::Yes) {
    return add_jobs(session(), jobs, again, clock_.now());
  }
  std::size_t add(const std::string& did, const std::string& host = kHost) {
    return add({{did, host}});
  }
  std::vector<Job> lease_next(const Place& place, std::size_t limit = 10) {
    return lease_jobs(session(), place, limit, {kHolder, clock_.now(), 2min});
  }
  Dids leased(const Place& place = Place::at(kHost), std::size_t limit = 10) {
    Dids dids;
    for (const Job& job : lease_next(place, limit)) dids.push_back(job.did);
    std::sort(dids.begin(), dids.end());
    return dids;
  }
  Dids finish(const Dids& dids, std::uint64_t rev = 7, const std::string& lease_owner = kHolder) {
    std::vector<FinishedJob> jobs;
    for (const std::string& did : dids) jobs.push_back({did, {rev}, 3, 1000});
    return finish_jobs(session(), jobs, lease_owner, clock_.now());
  }
  std::size_t fail(const std::string& did, std::chrono::seconds asked = 0s) {
    return jobs_failed(session(), std::vector<JobError>{{did, "no answer", asked}}, kHolder,
                       clock_.now());
  }
  std::string column(const std::string& did, const std::string& expression) {
    return value("SELECT " + expression + " FROM skua.backfill_jobs WHERE did = '" + did + "'");
  }
  std::string state(const std::string& did) { return column(did, "state"); }

  test::ManualClock clock_;
};

TEST_F(JobTableTest, a_leased_job_is_what_was_added) {
  EXPECT_EQ(add({{kAlice, kHost, std::nullopt, atproto::Tid{std::uint64_t{1} << 61}}}), 1U);
  const auto jobs = lease_next(Place::at(kHost));
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].did, kAlice);
  EXPECT_EQ(jobs[0].host, kHost);
  EXPECT_EQ(jobs[0].file, std::nullopt);
  EXPECT_EQ(jobs[0].since, atproto::Tid{std::uint64_t{1} << 61});
  EXPECT_EQ(jobs[0].rev, std::nullopt);
  EXPECT_EQ(jobs[0].attempt, 1);
  EXPECT_EQ(column(kAlice, "concat_ws(' ', state, lease_owner, lease_until, attempts)"),
            "running " + kHolder + " 2026-01-02 00:02:00+00 1");
}

TEST_F(JobTableTest, each_lease_has_a_number_of_its_own) {
  add(kAlice);
  EXPECT_EQ(lease_next(Place::at(kHost)).at(0).lease_number, 1);
  release_jobs(session(), kHolder);
  const auto again = lease_next(Place::at(kHost));
  EXPECT_EQ(again.at(0).lease_number, 2);
  EXPECT_EQ(again.at(0).attempt, 1) << "it was no attempt";
}

/// As BulkWriter locks it.
const std::string kLockAsAChunk = "SELECT did FROM skua.backfill_jobs FOR KEY SHARE";

TEST_F(JobTableTest, while_a_chunk_is_written_the_lease_is_renewed_and_nobody_takes_the_job) {
  add(kAlice);
  leased();
  Session writing(database_.url(), "writing");
  Transaction chunk(writing);
  writing.run(kLockAsAChunk);
  clock_.advance(1min);
  EXPECT_EQ(renew_leases(session(), {kHolder, clock_.now(), 2min}), 1U);
  clock_.advance(1h);
  EXPECT_EQ(reclaim_expired_jobs(session(), clock_.now()), 0U);
  EXPECT_EQ(reclaim_orphan_jobs(session(), clock_.now()), 0U);
  EXPECT_EQ(state(kAlice), "running");
  chunk.commit();
  EXPECT_EQ(reclaim_expired_jobs(session(), clock_.now()), 1U);
}

TEST_F(JobTableTest, what_could_not_be_had_is_tried_again_after_days) {
  add({{kAlice, kHost}, {kBob, kHost}, {kCarol, std::nullopt, "/tmp/carol.car"}});
  leased();
  leased(Place::file());
  jobs_unavailable(session(), std::vector<JobError>{{kAlice, "gone"}, {kCarol, "gone"}}, kHolder,
                   clock_.now());
  jobs_failed(session(), std::vector<JobError>{{kBob, "no answer"}}, kHolder, clock_.now(), 1);
  EXPECT_EQ(state(kBob), "failed");
  clock_.advance(kRareDelay * 3 / 4 - 1s);
  EXPECT_EQ(retry_rarely(session(), clock_.now(), 10), 0U);
  EXPECT_FALSE(jobs_remain(session())) << "nobody waits for them";
  clock_.advance(kRareDelay / 2 + 2s);
  EXPECT_EQ(retry_rarely(session(), clock_.now(), 1), 1U);
  EXPECT_EQ(retry_rarely(session(), clock_.now(), 10), 1U);
  EXPECT_THAT(leased(), ElementsAre(kAlice, kBob));
  EXPECT_EQ(state(kCarol), "unavailable") << "a file stays as it is";
  // The failed one has one attempt, and then waits twice as long.
  jobs_failed(session(), std::vector<JobError>{{kBob, "no answer"}}, kHolder, clock_.now(), 1);
  EXPECT_EQ(state(kBob), "failed");
  clock_.advance(kRareDelay * 3 / 2 - 1s);
  EXPECT_EQ(retry_rarely(session(), clock_.now(), 10), 0U);
  clock_.advance(kRareDelay);
  EXPECT_EQ(retry_rarely(session(), clock_.now(), 10), 1U);
  // Success forgets all that.
  EXPECT_THAT(leased(), ElementsAre(kBob));
  finish({kBob});
  EXPECT_EQ(column(kBob, "retries"), "0");
}

TEST_F(JobTableTest, rare_retries_are_a_month_apart_at_most_and_not_all_at_once) {
  std::vector<NewJob> jobs;
  std::vector<JobError> errors;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back({"did:plc:" + std::to_string(i), kHost});
    errors.push_back({jobs.back().did, "gone"});
  }
  add(jobs);
  leased(Place::at(kHost), 100);
  session().run("UPDATE skua.backfill_jobs SET retries = 1000");
  jobs_unavailable(session(), errors, kHolder, clock_.now());
  const std::string days = "extract(epoch FROM next_attempt - finished_at) / 86400";
  EXPECT_EQ(value("SELECT bool_and(" + days + " BETWEEN 22.5 AND 37.5) FROM skua.backfill_jobs"),
            "t");
  EXPECT_EQ(value("SELECT max(" + days + ") - min(" + days + ") > 5 FROM skua.backfill_jobs"), "t");
}

TEST_F(JobTableTest, each_place_has_its_jobs) {
  EXPECT_EQ(add({{kAlice, kHost},
                 {kBob, std::nullopt, "/tmp/bob.car"},
                 {kCarol},
                 {"did:plc:dan", kHost, "/tmp/dan.car"},
                 {"did:plc:eve", kOther}}),
            5U);
  EXPECT_THAT(leased(Place::at(kHost)), ElementsAre(kAlice));
  EXPECT_THAT(leased(Place::at(kOther)), ElementsAre("did:plc:eve"));
  EXPECT_THAT(leased(Place::unknown()), ElementsAre(kCarol));
  EXPECT_THAT(leased(Place::file()), ElementsAre(kBob, "did:plc:dan"));
  EXPECT_THAT(leased(Place::at("https://nobody.test")), IsEmpty());
  for (const Place& place : {Place::at(kHost), Place::unknown(), Place::file()}) {
    EXPECT_THAT(leased(place), IsEmpty()) << "all were leased";
  }
}

TEST_F(JobTableTest, those_that_are_due_first_are_leased_first) {
  add(kCarol);
  clock_.advance(1s);
  add(kAlice);
  clock_.advance(1s);
  add(kBob);
  EXPECT_THAT(leased(Place::at(kHost), 0), IsEmpty());
  EXPECT_THAT(leased(Place::at(kHost), 2), ElementsAre(kAlice, kCarol));
  EXPECT_THAT(leased(Place::at(kHost), 2), ElementsAre(kBob));
}

TEST_F(JobTableTest, a_did_that_is_named_twice_is_one_job) {
  EXPECT_EQ(add({{kAlice, kHost}, {kAlice, kHost}, {kBob, kHost}}), 2U);
  EXPECT_EQ(add({{kAlice, kHost}, {kAlice, kHost}}), 0U);
  EXPECT_EQ(add(std::vector<NewJob>{}), 0U);
}

TEST_F(JobTableTest, more_than_one_statement_holds_are_added) {
  std::vector<NewJob> jobs;
  for (int i = 0; i < 10'001; ++i) jobs.push_back({"did:plc:" + std::to_string(i), kHost});
  EXPECT_EQ(add(jobs), 10'001U);
  EXPECT_EQ(value("SELECT count(*) FROM skua.backfill_jobs"), "10001");
}

/// What becomes of a job that is asked for when it is there already.
struct Asked {
  const char* name;
  const char* state;
  Again again;
  bool queues;
  std::optional<std::uint64_t> listed = std::nullopt;
  std::optional<std::uint64_t> reached = std::nullopt;
  const char* host = "https://pds.test";
};

class AskedAgain : public JobTableTest, public testing::WithParamInterface<Asked> {};

TEST_P(AskedAgain, is_queued_or_left_alone) {
  const Asked& asked = GetParam();
  const std::string from = asked.state;
  add(kAlice);
  leased();
  session().run("UPDATE skua.backfill_jobs SET rev = " +
                (asked.reached ? std::to_string(*asked.reached) : "NULL"));
  if (from != "running") {
    session().run(
        "UPDATE skua.backfill_jobs SET lease_until = NULL, lease_owner = NULL, error = 'words', "
        "attempts = 3, state = '" +
        from + "'");
  }
  clock_.advance(1h);
  NewJob job{kAlice, asked.host};
  if (asked.listed) job.listed = atproto::Tid{*asked.listed};
  EXPECT_EQ(add({job}, asked.again), asked.queues ? 1U : 0U);
  if (asked.queues) {
    EXPECT_EQ(column(kAlice, "concat_ws(' ', state, host, attempts, error, next_attempt)"),
              std::string("queued ") + asked.host + " 0 2026-01-02 01:00:00+00");
  } else {
    EXPECT_EQ(column(kAlice, "concat_ws(' ', state, host)"), from + " " + kHost);
  }
}

constexpr const char* kElsewhere = "https://other.test";

INSTANTIATE_TEST_SUITE_P(
    JobTable, AskedAgain,
    testing::Values(
        Asked{"done_by_operator", "done", Again::Yes, true, std::nullopt, 5},
        Asked{"failed_by_operator", "failed", Again::Yes, true},
        Asked{"unavailable_by_operator", "unavailable", Again::Yes, true},
        Asked{"cancelled_by_operator", "cancelled", Again::Yes, true},
        Asked{"queued_by_operator", "queued", Again::Yes, false},
        Asked{"running_by_operator", "running", Again::Yes, false, 9, 5},
        Asked{"done_listed", "done", Again::No, false, std::nullopt, 5},
        Asked{"done_listed_at_its_rev", "done", Again::No, false, 5, 5},
        Asked{"done_listed_newer", "done", Again::No, true, 6, 5},
        Asked{"done_listed_elsewhere", "done", Again::No, false, 5, 5, kElsewhere},
        Asked{"failed_listed", "failed", Again::No, false, 6},
        Asked{"failed_listed_newer", "failed", Again::No, true, 6, 5},
        Asked{"failed_listed_elsewhere", "failed", Again::No, true, 6, std::nullopt, kElsewhere},
        Asked{"unavailable_listed", "unavailable", Again::No, false, 6},
        Asked{"unavailable_listed_elsewhere", "unavailable", Again::No, true, std::nullopt,
              std::nullopt, kElsewhere},
        Asked{"cancelled_listed_newer", "cancelled", Again::No, false, 6, 5, kElsewhere},
        Asked{"queued_listed_newer", "queued", Again::No, false, 6, 5, kElsewhere},
        Asked{"running_listed_newer", "running", Again::No, false, 6, 5, kElsewhere}),
    [](const auto& test) { return test.param.name; });

TEST_F(JobTableTest, who_asks_does_not_want_to_wait_for_a_retry) {
  add(kAlice);
  leased();
  fail(kAlice);
  EXPECT_EQ(add({{kAlice, kHost}}, Again::No), 0U);
  EXPECT_THAT(leased(), IsEmpty());
  EXPECT_EQ(add({{kAlice, kHost}}, Again::Yes), 0U) << "it was queued before";
  EXPECT_THAT(leased(), ElementsAre(kAlice));
}

TEST_F(JobTableTest, what_another_session_is_leasing_is_passed_over) {
  add(kAlice);
  clock_.advance(1s);
  add(kBob);
  Session other(database_.url(), "other");
  {
    Transaction open(other);
    EXPECT_EQ(lease_jobs(other, Place::at(kHost), 1, {"other", clock_.now()}).size(), 1U);
    EXPECT_THAT(leased(), ElementsAre(kBob));
    // It ends before it commits: then it was never leased.
  }
  EXPECT_THAT(leased(), ElementsAre(kAlice));
}

TEST_F(JobTableTest, no_two_processes_get_the_same_job) {
  constexpr int kJobs = 2000;
  std::vector<NewJob> jobs;
  for (int i = 0; i < kJobs; ++i) jobs.push_back({"did:plc:" + std::to_string(i), kHost});
  add(jobs);
  const std::string url = database_.url();
  std::mutex mutex;
  std::map<std::string, int> given;
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&, n] {
      Session own(url, "leasing");
      const JobLeaseRequest request{"leasing " + std::to_string(n), clock_.now(), 2min};
      for (;;) {
        const auto got = lease_jobs(own, Place::at(kHost), 7, request);
        if (got.empty()) return;
        const std::lock_guard lock(mutex);
        for (const Job& job : got) ++given[job.did];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(given.size(), static_cast<std::size_t>(kJobs));
  for (const auto& [did, times] : given) EXPECT_EQ(times, 1) << did;
}

TEST_F(JobTableTest, hosts_with_due_jobs_are_named_once_in_order) {
  add({{kAlice, "https://b.test"},
       {kBob, "https://b.test"},
       {kCarol, "https://a.test"},
       {"did:plc:dan", "https://c.test"},
       {"did:plc:eve"},
       {"did:plc:fay", "https://x.test", "/tmp/fay.car"}});
  EXPECT_THAT(due_hosts(session(), clock_.now(), 10),
              ElementsAre("https://a.test", "https://b.test", "https://c.test"));
  EXPECT_THAT(due_hosts(session(), clock_.now(), 2),
              ElementsAre("https://a.test", "https://b.test"));
  EXPECT_THAT(due_hosts(session(), clock_.now(), 2, "https://b.test"),
              ElementsAre("https://c.test"));
  EXPECT_THAT(due_hosts(session(), clock_.now(), 10, "https://c.test"), IsEmpty());
  EXPECT_THAT(due_hosts(session(), clock_.now() - 1us, 10), IsEmpty());
  leased(Place::at("https://a.test"));
  EXPECT_THAT(due_hosts(session(), clock_.now(), 1), ElementsAre("https://b.test"));
}

TEST_F(JobTableTest, a_host_whose_jobs_all_wait_is_not_due) {
  add(kAlice);
  leased();
  fail(kAlice);
  EXPECT_THAT(due_hosts(session(), clock_.now(), 10), IsEmpty());
  EXPECT_EQ(next_due(session()), clock_.now() + 10s);
  clock_.advance(10s);
  EXPECT_THAT(due_hosts(session(), clock_.now(), 10), ElementsAre(kHost));
}

TEST_F(JobTableTest, the_next_due_is_the_first_of_all_places) {
  EXPECT_EQ(next_due(session()), std::nullopt);
  EXPECT_FALSE(jobs_remain(session()));
  const Timestamp start = clock_.now();
  clock_.advance(3s);
  add(kAlice, kOther);
  EXPECT_EQ(next_due(session()), start + 3s);
  add_jobs(session(), std::vector<NewJob>{{kBob, kHost}}, Again::Yes, start + 2s);
  EXPECT_EQ(next_due(session()), start + 2s);
  add_jobs(session(), std::vector<NewJob>{{kCarol}}, Again::Yes, start + 1s);
  EXPECT_EQ(next_due(session()), start + 1s);
  add_jobs(session(), std::vector<NewJob>{{"did:plc:dan", std::nullopt, "/tmp/dan.car"}},
           Again::Yes, start);
  EXPECT_EQ(next_due(session()), start);
}

TEST_F(JobTableTest, jobs_remain_until_the_last_has_ended) {
  for (const NewJob& job : {NewJob{kAlice, kHost}, NewJob{kAlice}, NewJob{kAlice, {}, "/a.car"}}) {
    add({job});
    EXPECT_TRUE(jobs_remain(session())) << "queued";
    const Dids taken = leased(job.file   ? Place::file()
                              : job.host ? Place::at(*job.host)
                                         : Place::unknown());
    EXPECT_THAT(taken, ElementsAre(kAlice));
    EXPECT_TRUE(jobs_remain(session())) << "running";
    finish({kAlice});
    EXPECT_FALSE(jobs_remain(session()));
  }
}

TEST_F(JobTableTest, jobs_of_some_accounts_are_leased_alone) {
  const std::string dan = "did:plc:dan";
  add({{kAlice, kHost}, {kBob, kOther}, {kCarol}, {dan, std::nullopt, "/tmp/dan.car"}});
  const auto leased_of = [&](const Place& place, const Dids& only) {
    Dids dids;
    JobLeaseRequest request{kHolder, clock_.now()};
    request.only = only;
    for (const Job& job : lease_jobs(session(), place, 10, request)) dids.push_back(job.did);
    return dids;
  };
  const Dids some = {kBob, kCarol, dan, "did:plc:nobody"};
  EXPECT_THAT(due_hosts_of(session(), some, clock_.now()), ElementsAre(kOther));
  EXPECT_THAT(due_hosts_of(session(), some, clock_.now() - 1us), IsEmpty());
  EXPECT_THAT(leased_of(Place::at(kHost), some), IsEmpty());
  EXPECT_THAT(leased_of(Place::at(kOther), some), ElementsAre(kBob));
  EXPECT_THAT(leased_of(Place::unknown(), {kAlice}), IsEmpty());
  EXPECT_THAT(leased_of(Place::unknown(), some), ElementsAre(kCarol));
  EXPECT_THAT(leased_of(Place::file(), {kAlice}), IsEmpty());
  EXPECT_THAT(leased_of(Place::file(), some), ElementsAre(dan));
  EXPECT_TRUE(jobs_remain_of(session(), some)) << "running";
  finish(some);
  EXPECT_FALSE(jobs_remain_of(session(), some));
  EXPECT_TRUE(jobs_remain_of(session(), Dids{kAlice})) << "queued";
}

TEST_F(JobTableTest, a_found_host_queues_the_job_there) {
  add({{kAlice}, {kBob}});
  EXPECT_EQ(leased(Place::unknown()).size(), 2U);
  const std::vector<JobHost> found{{kAlice, kHost}, {kBob, kOther}, {kCarol, kHost}};
  EXPECT_EQ(set_hosts(session(), found, "somebody else", clock_.now()), 0U);
  EXPECT_EQ(set_hosts(session(), found, kHolder, clock_.now()), 2U);
  const auto jobs = lease_next(Place::at(kHost));
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].did, kAlice);
  EXPECT_EQ(jobs[0].attempt, 1) << "the first lease was no attempt";
  EXPECT_THAT(leased(Place::at(kOther)), ElementsAre(kBob));
}

TEST_F(JobTableTest, a_finished_job_says_what_it_brought) {
  add({{kAlice, kHost}, {kBob, kHost}});
  leased();
  EXPECT_EQ(finish({kBob, kAlice, kCarol}), (Dids{kAlice, kBob}));
  EXPECT_EQ(
      column(kAlice, "concat_ws(' ', state, rev, records, bytes, finished_at, error, lease_owner)"),
      "done 7 3 1000 2026-01-02 00:00:00+00");
  EXPECT_THAT(finish({kAlice}), IsEmpty()) << "it is nobody's now";
  EXPECT_THAT(leased(), IsEmpty());
}

TEST_F(JobTableTest, a_rev_that_was_reached_does_not_go_back) {
  add(kAlice);
  leased();
  finish({kAlice}, 9);
  add(kAlice);
  EXPECT_EQ(lease_next(Place::at(kHost)).at(0).rev, atproto::Tid{9});
  finish({kAlice}, 8);
  EXPECT_EQ(column(kAlice, "rev"), "9");
}

TEST_F(JobTableTest, a_finish_is_part_of_the_transaction_round_it) {
  add(kAlice);
  leased();
  {
    Transaction undone(session());
    EXPECT_THAT(finish({kAlice}), ElementsAre(kAlice));
  }
  EXPECT_EQ(state(kAlice), "running");
  EXPECT_THAT(finish({kAlice}), ElementsAre(kAlice));
}

TEST_F(JobTableTest, a_lease_can_be_renewed_until_it_is_over) {
  add(kAlice);
  leased();
  const auto renew = [&] { return renew_leases(session(), {kHolder, clock_.now(), 2min}); };
  clock_.advance(2min - 1us);
  EXPECT_EQ(renew_leases(session(), {"somebody else", clock_.now(), 2min}), 0U);
  EXPECT_EQ(renew(), 1U);
  clock_.advance(2min - 1us);
  EXPECT_EQ(reclaim_expired_jobs(session(), clock_.now()), 0U);
  clock_.advance(1us);
  EXPECT_EQ(renew(), 0U);
  EXPECT_THAT(finish({kAlice}), IsEmpty()) << "its tombstones may be gone";
  EXPECT_EQ(reclaim_expired_jobs(session(), clock_.now()), 1U);
  EXPECT_EQ(column(kAlice, "concat_ws(' ', state, lease_until, lease_owner)"), "queued");
  EXPECT_EQ(lease_next(Place::at(kHost)).at(0).attempt, 1) << "it need not have ended its process";
}

TEST_F(JobTableTest, a_process_that_is_killed_now_and_then_is_no_error_of_its_jobs) {
  add(kAlice);
  for (int time = 1; time <= 2; ++time) {
    EXPECT_THAT(leased(), ElementsAre(kAlice));
    EXPECT_EQ(reclaim_orphan_jobs(session(), clock_.now()), 1U);
    EXPECT_EQ(column(kAlice, "concat_ws(' ', state, attempts, error, finished_at)"), "queued 0");
  }
  EXPECT_THAT(leased(), ElementsAre(kAlice));
  EXPECT_EQ(reclaim_orphan_jobs(session(), clock_.now()), 1U);
  EXPECT_EQ(column(kAlice, "concat_ws(' ', state, attempts, error)"),
            "queued 0 the process that had it ended");
}

TEST_F(JobTableTest, a_job_that_ends_process_after_process_is_abandoned) {
  add(kAlice);
  for (int time = 1; time <= 3; ++time) {
    EXPECT_THAT(leased(), ElementsAre(kAlice));
    clock_.advance(2min);
    EXPECT_EQ(reclaim_expired_jobs(session(), clock_.now(), 3), 1U);
  }
  clock_.advance(std::chrono::hours(1000));
  EXPECT_THAT(leased(), IsEmpty());
  EXPECT_EQ(column(kAlice, "state || ': ' || error"),
            "failed: the process that had it did not renew its lease");
}

TEST_F(JobTableTest, the_jobs_of_an_owner_without_a_session_are_reclaimed_at_once) {
  add({{kAlice, kHost}, {kBob, kHost}});
  Session alive(database_.url(), "skua backfill that lives");
  const auto lease_one = [&](const std::string& lease_owner) {
    return lease_jobs(session(), Place::at(kHost), 1, {lease_owner, clock_.now()}).at(0).did;
  };
  const std::string kept = lease_one("skua backfill that lives");
  const std::string lost = lease_one("skua backfill that was killed");
  EXPECT_EQ(reclaim_orphan_jobs(session(), clock_.now()), 1U);
  EXPECT_EQ(state(kept), "running");
  EXPECT_EQ(state(lost), "queued");
}

TEST_F(JobTableTest, jobs_that_were_lost_often_wait_so_that_others_get_done) {
  add(kAlice);
  for (const auto wait :
       {0s, 0s, 10s, 20s, 40s, 80s, 160s, 320s, 640s, 1280s, 2560s, 3600s, 3600s}) {
    EXPECT_THAT(leased(), ElementsAre(kAlice));
    clock_.advance(2min);
    EXPECT_EQ(reclaim_expired_jobs(session(), clock_.now()), 1U);
    EXPECT_EQ(next_due(session()), clock_.now() + wait);
    clock_.advance(wait);
  }
  EXPECT_THAT(leased(), ElementsAre(kAlice));
  fail(kAlice);
  EXPECT_EQ(column(kAlice, "lost || ' ' || attempts"), "0 1") << "it did not end this one";
}

TEST_F(JobTableTest, a_job_whose_host_was_only_looked_for_ended_no_process) {
  add_jobs(session(), std::vector<NewJob>{{kAlice}}, Again::Yes, clock_.now());
  for (int time = 1; time <= 50; ++time) {
    EXPECT_THAT(leased(Place::unknown()), ElementsAre(kAlice));
    clock_.advance(2min);
    EXPECT_EQ(reclaim_expired_jobs(session(), clock_.now()), 1U);
  }
  EXPECT_EQ(column(kAlice, "concat_ws(' ', state, lost, attempts)"), "queued 0 0");
}

TEST_F(JobTableTest, a_clean_stop_gives_all_back_as_if_never_leased) {
  add({{kAlice, kHost}, {kBob, kHost}});
  // But for the lease number, which no other process ever gets.
  const std::string all =
      "SELECT string_agg((to_jsonb(j) - 'lease_number')::text, ' ' ORDER BY did) FROM "
      "skua.backfill_jobs "
      "AS j";
  const std::string before = value(all);
  leased();
  EXPECT_EQ(release_jobs(session(), "somebody else"), 0U);
  EXPECT_EQ(release_jobs(session(), kHolder), 2U);
  EXPECT_EQ(value(all), before);
}

TEST_F(JobTableTest, what_is_unavailable_is_not_tried_again) {
  add(kAlice);
  leased();
  const std::vector<JobError> gone{{kAlice, "RepoTakendown: the host has taken it down"}};
  EXPECT_EQ(jobs_unavailable(session(), gone, "somebody else", clock_.now()), 0U);
  EXPECT_EQ(jobs_unavailable(session(), gone, kHolder, clock_.now()), 1U);
  clock_.advance(std::chrono::hours(1000));
  EXPECT_THAT(leased(), IsEmpty());
  EXPECT_EQ(column(kAlice, "state || ': ' || error"),
            "unavailable: RepoTakendown: the host has taken it down");
}

TEST_F(JobTableTest, a_failed_attempt_waits_longer_each_time) {
  add(kAlice);
  for (const auto wait : {10s, 20s, 40s}) {
    EXPECT_THAT(leased(), ElementsAre(kAlice));
    EXPECT_EQ(fail(kAlice), 0U);
    clock_.advance(wait - 1us);
    EXPECT_THAT(leased(), IsEmpty());
    clock_.advance(1us);
  }
  EXPECT_EQ(column(kAlice, "concat_ws(' ', state, attempts, error, lease_owner)"),
            "queued 3 no answer");
  leased();
  finish({kAlice});
  EXPECT_EQ(column(kAlice, "concat_ws(' ', state, attempts, error)"), "done 0");
}

TEST_F(JobTableTest, what_a_host_asks_to_wait_comes_on_top) {
  add(kAlice);
  leased();
  fail(kAlice, 100s);
  EXPECT_EQ(next_due(session()), clock_.now() + 110s);
}

TEST_F(JobTableTest, after_too_many_attempts_a_job_is_abandoned) {
  add(kAlice);
  for (int attempt = 1; attempt <= kMaxAttempts; ++attempt) {
    clock_.advance(6h);
    EXPECT_EQ(lease_next(Place::at(kHost)).at(0).attempt, attempt);
    EXPECT_EQ(fail(kAlice), attempt == kMaxAttempts ? 1U : 0U);
  }
  EXPECT_EQ(column(kAlice, "state || ': ' || error"), "failed: no answer");
  clock_.advance(std::chrono::hours(1000));
  EXPECT_THAT(leased(), IsEmpty());
}

TEST_F(JobTableTest, a_wait_that_the_host_asked_for_is_no_attempt) {
  add(kAlice);
  for (int i = 0; i < 3 * kMaxAttempts; ++i) {
    EXPECT_EQ(lease_next(Place::at(kHost)).at(0).attempt, 1);
    EXPECT_EQ(jobs_postponed(session(), std::vector<JobError>{{kAlice, "asked to wait", 5s}},
                             kHolder, clock_.now()),
              1U);
    clock_.advance(5s - 1us);
    EXPECT_THAT(leased(), IsEmpty());
    clock_.advance(1us);
  }
}

TEST_F(JobTableTest, words_are_bounded_and_no_character_is_cut) {
  add(kAlice);
  leased();
  std::string words(499, 'x');
  words += "é and a whole page";
  words.push_back('\0');
  jobs_failed(session(), std::vector<JobError>{{kAlice, words}}, kHolder, clock_.now());
  EXPECT_EQ(column(kAlice, "error"), std::string(499, 'x') + "é");
}

TEST_F(JobTableTest, running_jobs_are_known_by_did) {
  add({{kAlice, kHost}, {kBob, kOther}});
  leased();
  EXPECT_THAT(running_jobs(session(), Dids{kAlice, kBob, kCarol}), ElementsAre(kAlice));
  EXPECT_THAT(running_jobs(session(), Dids{}), IsEmpty());
}

struct Delay {
  int attempt;
  std::chrono::seconds delay;
};

class JobDelay : public testing::TestWithParam<Delay> {};

TEST_P(JobDelay, is) {
  EXPECT_EQ(job_delay(GetParam().attempt), GetParam().delay);
}

INSTANTIATE_TEST_SUITE_P(JobTable, JobDelay,
                         testing::Values(Delay{-1, 10s}, Delay{0, 10s}, Delay{1, 10s},
                                         Delay{2, 20s}, Delay{3, 40s}, Delay{12, 20'480s},
                                         Delay{13, 6h}, Delay{14, 6h}, Delay{1'000'000, 6h}),
                         [](const auto& test) { return "case" + std::to_string(test.index); });

}  // namespace
}  // namespace skua::backfill::job_table_test
