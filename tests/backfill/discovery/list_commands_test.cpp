#include <string>

#include <gtest/gtest.h>

#include "backfill/discovery/host_table.hpp"
#include "backfill/discovery/list_table.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::list_commands_test {
namespace {

using namespace std::chrono_literals;

const std::string kReader = "skua backfill pid 1 at here";

/// A list in each state at each of two hosts, named for its state.
class ListCommandsTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    for (const std::string host : {"a", "b"}) {
      insert(host, "new", "none", "NULL", "NULL", "NULL", "0");
      insert(host, "waiting", "listing", "'page 7'", "NULL", "'no answer'", "1");
      insert(host, "running", "listing", "'page 3'", "'" + kReader + "'", "NULL", "1");
      insert(host, "listed", "listed", "NULL", "NULL", "NULL", "0");
      insert(host, "failed", "failed", "'page 9'", "NULL", "'no answer'", "0");
      insert(host, "cancelled", "cancelled", "NULL", "NULL", "NULL", "0");
      // Not theirs.
      insert(host, "audit:repos", "failed", "NULL", "NULL", "'no answer'", "0");
    }
  }

  void insert(const std::string& host, const std::string& what, const std::string& state,
              const std::string& cursor, const std::string& lease_owner, const std::string& error,
              const std::string& years) {
    session().run(
        "INSERT INTO skua.backfill_hosts (host, what, state, cursor, lease_owner, error, attempts, "
        "next_attempt, updated_at) VALUES ('https://" +
        host + ".test', '" + what + "', '" + state + "', " + cursor + ", " + lease_owner + ", " +
        error + ", 5, '2026-01-01'::timestamptz + " + years +
        " * interval '1 year', '2026-01-01')");
  }

  std::string in_state(const std::string& state, const std::string& host = "%") {
    return value(
        "SELECT coalesce(string_agg(what, ' ' ORDER BY what), '') FROM "
        "skua.backfill_hosts WHERE what <> 'audit:repos' AND state = '" +
        state + "' AND host LIKE '" + host + "'");
  }
  std::size_t cancel(const JobFilter& filter) {
    return cancel_lists(session(), filter, clock_.now());
  }
  std::size_t retry(const JobFilter& filter) {
    return retry_lists(session(), filter, clock_.now());
  }

  test::ManualClock clock_;
};

TEST_F(ListCommandsTest, cancel_ends_what_is_queued_or_running) {
  EXPECT_EQ(cancel({}), 6U);
  EXPECT_EQ(in_state("cancelled", "%a.test"), "cancelled new running waiting");
  EXPECT_EQ(in_state("listing") + in_state("none"), "");
  EXPECT_EQ(next_page_due(session()), std::nullopt) << "nothing is left to wait for";
  EXPECT_EQ(cancel({}), 0U);
}

TEST_F(ListCommandsTest, cancel_of_a_host_leaves_the_others) {
  EXPECT_EQ(cancel({.host = "https://a.test"}), 3U);
  EXPECT_EQ(in_state("cancelled", "%b.test"), "cancelled");
}

TEST_F(ListCommandsTest, cancel_of_states_takes_those_alone) {
  EXPECT_EQ(cancel({.states = {JobState::Running}}), 2U);
  EXPECT_EQ(in_state("cancelled", "%a.test"), "cancelled running");
  EXPECT_EQ(cancel({.states = {JobState::Failed, JobState::Unavailable}}), 2U);
  EXPECT_EQ(in_state("cancelled", "%a.test"), "cancelled failed running");
}

TEST_F(ListCommandsTest, accounts_select_no_list) {
  EXPECT_EQ(cancel({.dids = {"did:plc:a"}}), 0U);
  EXPECT_EQ(retry({.dids = {"did:plc:a"}}), 0U);
}

TEST_F(ListCommandsTest, the_reader_of_a_cancelled_list_discards_its_page) {
  cancel({.host = "https://a.test"});
  const JobLeaseRequest request{kReader, clock_.now()};
  EXPECT_FALSE(save_page(session(), {"https://a.test", "running"}, "page 4", 10, request));
  EXPECT_TRUE(save_page(session(), {"https://b.test", "running"}, "page 4", 10, request));
}

TEST_F(ListCommandsTest, a_cancelled_list_begins_anew_only_when_it_is_asked_for) {
  cancel({});
  const HostList list{"https://a.test", "waiting"};
  EXPECT_EQ(add_lists(session(), {&list, 1}, Again::No, clock_.now()), 0U);
  EXPECT_EQ(add_lists(session(), {&list, 1}, Again::Yes, clock_.now()), 1U);
  EXPECT_EQ(in_state("none"), "waiting");
}

TEST_F(ListCommandsTest, retry_queues_from_the_page_that_was_not_read) {
  EXPECT_EQ(retry({.host = "https://a.test"}), 2U);
  const std::string due = value(
      "SELECT string_agg(concat_ws(',', what, state, cursor, attempts, error), ' ' ORDER BY "
      "what) FROM skua.backfill_hosts WHERE host = 'https://a.test' AND "
      "what IN ('waiting', 'failed') AND next_attempt < '2026-06-01' AND lease_owner IS NULL");
  EXPECT_EQ(due, "failed,listing,page 9,0 waiting,listing,page 7,0");
  EXPECT_EQ(retry({.states = {JobState::Cancelled, JobState::Running}}), 2U);
  EXPECT_EQ(in_state("none", "%b.test"), "cancelled new");
}

TEST_F(ListCommandsTest, errors_are_of_lists_that_wait_or_were_abandoned) {
  EXPECT_EQ(list_errors(session(), 10).size(), 4U);
  cancel({.host = "https://a.test", .states = {JobState::Failed}});
  const auto errors = list_errors(session(), 10);
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[0].list.host, "https://a.test");
  EXPECT_EQ(errors[0].list.what, "waiting");
  EXPECT_EQ(errors[0].state, ListState::Listing);
  EXPECT_EQ(errors[0].reason, "no answer");
  EXPECT_EQ(list_errors(session(), 1).size(), 1U);
}

}  // namespace
}  // namespace skua::backfill::list_commands_test
