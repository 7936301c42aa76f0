#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "status/reports.hpp"
#include "support/postgres.hpp"

namespace skua::status::repository_info_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kAlice = "did:plc:alice";

class RepositoryInfoTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::string text() { return repository_info_text(read_repository_info(session(), kAlice)); }
};

TEST_F(RepositoryInfoTest, nothing_is_known) {
  EXPECT_TRUE(read_repository_info(session(), kAlice).is_null());
}

TEST_F(RepositoryInfoTest, a_job_is_something) {
  session().run(
      "INSERT INTO skua.backfill_jobs (did, state, error, created_at, next_attempt, finished_at) "
      "VALUES ('" +
      kAlice + "', 'unavailable', 'gone', '2026-01-01', '2026-01-01', '2026-01-02')");
  EXPECT_THAT(text(), AllOf(HasSubstr("nothing was stored of it"), HasSubstr("no chain"),
                            HasSubstr("unavailable, ended 2026-01-02T00:00:00.000000Z: gone"),
                            HasSubstr("rows         0\n")));
}

TEST_F(RepositoryInfoTest, all_that_may_be_said_of_a_repository_is) {
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at, handle, active, status) VALUES ('" + kAlice +
      "', now(), 'alice.test', false, 'takendown'); "
      "INSERT INTO skua.repositories (did, rev, anchor, active, breaks, broke_at, state, "
      "next_attempt, attempts, error) VALUES ('" +
      kAlice +
      "', bsky.tid_number('3l2s5xxv2ze2c'), bsky.tid_number('3l2s5xxv2ze22'), false, 2, "
      "'2026-01-01', 'desynchronized', '2026-02-01', 3, 'no answer'); "
      "INSERT INTO skua.backfill_jobs (did, state, lease_owner, lease_until, host, created_at, "
      "next_attempt) "
      "VALUES ('" +
      kAlice +
      "', 'running', 'skua run pid 1 at here', now(), 'https://pds.test', now(), now()); "
      "INSERT INTO bsky.collections (id, nsid) VALUES (1000, 'com.example.thing'); "
      "INSERT INTO bsky.records (actor_id, collection_id, rkey, rev, cid, record, indexed_at) "
      "SELECT id, 1000, n, 5, decode(repeat('11', 32), 'hex'), '{}', now() FROM bsky.actors, "
      "generate_series(1, 1200) AS n");
  EXPECT_THAT(text(), AllOf(HasSubstr("alice.test"), HasSubstr("is hidden (takendown)"),
                            HasSubstr("desynchronized: "), HasSubstr("head         3l2s5xxv2ze2c"),
                            HasSubstr("since        3l2s5xxv2ze22"), HasSubstr("2, the last seen"),
                            HasSubstr("3 times: no answer"), HasSubstr("do not count")));
  EXPECT_THAT(text(),
              AllOf(HasSubstr("running, skua run pid 1 at here has it, at https://pds.test"),
                    HasSubstr("rows         1,200"), HasSubstr("1,200  com.example.thing")));
  const nlohmann::json info = read_repository_info(session(), kAlice);
  EXPECT_EQ(info["chain"]["resyncs_failed"], 3);
  EXPECT_EQ(info["job"]["state"], "running");
  EXPECT_EQ(info["collections"]["com.example.thing"], 1200);
}

}  // namespace
}  // namespace skua::status::repository_info_test
