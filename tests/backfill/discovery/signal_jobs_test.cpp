#include <array>
#include <string>

#include <gtest/gtest.h>

#include "backfill/discovery/audit.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::signal_jobs_test {
namespace {

class SignalJobsTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::string states() {
    return value(
        "SELECT string_agg(did || ' ' || state, ', ' ORDER BY did) "
        "FROM skua.backfill_jobs");
  }

  test::ManualClock clock_;
};

TEST_F(SignalJobsTest, queues_what_is_neither_complete_nor_queued_nor_cancelled_nor_excluded) {
  session().run(
      "INSERT INTO skua.repositories (did, state) VALUES ('did:plc:complete', 'complete'), "
      "('did:plc:partial', 'partial')");
  session().run(
      "INSERT INTO skua.backfill_jobs (did, state, created_at, next_attempt) VALUES "
      "('did:plc:cancelled', 'cancelled', now(), now()), ('did:plc:queued', 'queued', now(), "
      "now())");
  session().run("INSERT INTO skua.excluded_accounts (did) VALUES ('did:plc:excluded')");
  const std::array<std::string, 6> dids = {"did:plc:complete", "did:plc:partial",
                                           "did:plc:new",      "did:plc:cancelled",
                                           "did:plc:queued",   "did:plc:excluded"};
  EXPECT_EQ(queue_signal_accounts(session(), dids, clock_.now()), 2U);
  EXPECT_EQ(states(),
            "did:plc:cancelled cancelled, did:plc:new queued, did:plc:partial queued, "
            "did:plc:queued queued");
  EXPECT_EQ(queue_signal_accounts(session(), dids, clock_.now()), 0U) << "idempotent";
}

}  // namespace
}  // namespace skua::backfill::signal_jobs_test
