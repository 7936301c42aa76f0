#include "backfill/discovery/audit.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backfill/discovery/host_table.hpp"
#include "backfill/discovery/list_table.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::backfill::audit_test {
namespace {

using namespace std::chrono_literals;

const std::string kHost = "https://pds.test";
const std::string kRelay = "https://relay.test";
const std::vector<std::string> kSources = {"relay:relay.test"};

class AuditTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  atproto::Tid rev_at(std::chrono::seconds after) const {
    return atproto::Tid::from_time(clock_.now() + after, 0);
  }
  void store_repository(const std::string& did, std::chrono::seconds after,
                        const std::string& state = "complete", const std::string& host = kHost,
                        bool active = true) {
    session().run(
        fmt::format("INSERT INTO skua.repositories (did, rev, data, state, active) "
                    "VALUES ('{}', {}, '\\x00', '{}', {})",
                    did, rev_at(after).value, state, active));
    if (host.empty()) return;
    session().run(
        fmt::format("INSERT INTO skua.identities (did, fetched_at, pds) "
                    "VALUES ('{}', now(), '{}')",
                    did, host));
  }
  /// How far a source was read.
  void store_position(const std::string& source, std::chrono::seconds after) {
    session().run(fmt::format(
        "INSERT INTO skua.cursors (source, cursor, event_time, saved_at) VALUES ('{}', 1, "
        "to_timestamp({}), now()) ON CONFLICT (source) DO UPDATE SET event_time = "
        "EXCLUDED.event_time",
        source,
        std::chrono::duration_cast<std::chrono::seconds>((clock_.now() + after).time_since_epoch())
            .count()));
  }
  std::size_t compare(const std::vector<ListedRepo>& repos) {
    return desynchronize_behind(session(), kHost, repos, kSources, clock_.now());
  }
  std::string state_of(const std::string& did) {
    return value("SELECT state FROM skua.repositories WHERE did = '" + did + "'");
  }
  std::string list(const std::string& expression) {
    return value("SELECT " + expression + " FROM skua.backfill_hosts WHERE host = '" + kRelay +
                 "' AND what = 'audit:hosts'");
  }
  void begin(bool with_filtered_accounts = false) {
    begin_audit(session(),
                {.relay = kRelay, .every = 24h, .with_filtered_accounts = with_filtered_accounts},
                clock_.now());
  }
  /// As if the list were read to its end, or given up.
  void end(const std::string& state = "listed") {
    session().run("UPDATE skua.backfill_hosts SET cursor = 'c', listed = 7, state = '" + state +
                  "'");
  }

  test::ManualClock clock_;
};

TEST_F(AuditTest, repositories_behind_their_host_wait_for_a_resync) {
  store_position(kSources[0], 0s);
  store_repository("did:web:behind.test", -7200s);
  store_repository("did:web:equal.test", -3600s);
  store_repository("did:web:ahead.test", -1s);
  EXPECT_EQ(compare({{"did:web:behind.test", rev_at(-3600s)},
                     {"did:web:equal.test", rev_at(-3600s)},
                     {"did:web:ahead.test", rev_at(-3600s)},
                     {"did:web:unknown.test", rev_at(-3600s)},
                     {"did:web:unsaid.test", std::nullopt}}),
            1U);
  EXPECT_EQ(state_of("did:web:behind.test"), "desynchronized");
  EXPECT_EQ(value("SELECT next_attempt = to_timestamp(" +
                  std::to_string(clock_.now().time_since_epoch() / 1s) +
                  ") FROM skua.repositories WHERE did = 'did:web:behind.test'"),
            "t");
  EXPECT_EQ(state_of("did:web:equal.test"), "complete");
  EXPECT_EQ(state_of("did:web:ahead.test"), "complete");
  // Once: it waits already.
  EXPECT_EQ(compare({{"did:web:behind.test", rev_at(-3600s)}}), 0U);
}

TEST_F(AuditTest, only_complete_and_active_repositories_are_compared) {
  store_position(kSources[0], 0s);
  store_repository("did:web:partial.test", -7200s, "partial");
  store_repository("did:web:gone.test", -7200s, "complete", kHost, false);
  EXPECT_EQ(
      compare({{"did:web:partial.test", rev_at(-3600s)}, {"did:web:gone.test", rev_at(-3600s)}}),
      0U);
}

TEST_F(AuditTest, a_hidden_account_that_its_host_lists_as_active_waits_for_a_resync) {
  const auto hide = [&](const std::string& did, const std::string& status, int minutes_ago) {
    session().run(
        fmt::format("INSERT INTO bsky.actors (did, active, status, status_time, indexed_at) VALUES "
                    "('{}', false, "
                    "'{}', to_timestamp({}), now())",
                    did, status,
                    std::chrono::duration_cast<std::chrono::seconds>(
                        (clock_.now() - std::chrono::minutes(minutes_ago)).time_since_epoch())
                        .count()));
  };
  store_repository("did:web:takendown.test", -7200s, "partial", kHost, false);
  hide("did:web:takendown.test", "takendown", 11);
  store_repository("did:web:deactivated.test", -7200s, "complete");
  hide("did:web:deactivated.test", "deactivated", 11);
  store_repository("did:web:recent.test", -7200s, "complete");
  hide("did:web:recent.test", "deactivated", 9);
  store_repository("did:web:elsewhere.test", -7200s, "complete", "https://other.test");
  hide("did:web:elsewhere.test", "deactivated", 11);
  EXPECT_EQ(compare({{"did:web:takendown.test", rev_at(-7200s)},
                     {"did:web:deactivated.test", std::nullopt},
                     {"did:web:recent.test", rev_at(-7200s)},
                     {"did:web:elsewhere.test", rev_at(-7200s)}}),
            2U);
  EXPECT_EQ(state_of("did:web:takendown.test"), "desynchronized");
  EXPECT_EQ(state_of("did:web:deactivated.test"), "desynchronized");
}

TEST_F(AuditTest, a_host_speaks_for_its_own_accounts_alone) {
  store_position(kSources[0], 0s);
  store_repository("did:web:elsewhere.test", -7200s, "complete", "https://other.test");
  store_repository("did:web:nowhere.test", -7200s, "complete", "");
  EXPECT_EQ(compare({{"did:web:elsewhere.test", rev_at(-3600s)},
                     {"did:web:nowhere.test", rev_at(-3600s)}}),
            0U);
}

TEST_F(AuditTest, what_the_stream_may_still_bring_is_left_to_it) {
  store_repository("did:web:a.test", -7200s);
  const std::vector<ListedRepo> listed = {{"did:web:a.test", rev_at(-3600s)}};
  EXPECT_EQ(compare(listed), 0U) << "no source was read yet";
  store_position("relay:other.test", 0s);
  EXPECT_EQ(compare(listed), 0U) << "another relay was";
  store_position(kSources[0], -3600s + 599s);
  EXPECT_EQ(compare(listed), 0U) << "the stream is less than ten minutes further";
  store_position(kSources[0], -3600s + 601s);
  EXPECT_EQ(compare(listed), 1U);
}

TEST_F(AuditTest, a_revision_of_the_future_is_no_reason_for_a_download) {
  store_position(kSources[0], 48h);
  store_repository("did:web:a.test", -7200s);
  EXPECT_EQ(compare({{"did:web:a.test", rev_at(3600s)}}), 0U);
  EXPECT_EQ(compare({{"did:web:a.test", atproto::Tid{~std::uint64_t{0}}}}), 0U);
}

TEST_F(AuditTest, accounts_that_the_filter_leaves_out_are_not_compared) {
  store_position(kSources[0], 0s);
  store_repository("did:web:in.test", -7200s);
  store_repository("did:web:out.test", -7200s);
  session().run("INSERT INTO skua.filter VALUES ('did', 'did:web:in.test')");
  EXPECT_EQ(compare({{"did:web:in.test", rev_at(-3600s)}, {"did:web:out.test", rev_at(-3600s)}}),
            1U);
  EXPECT_EQ(state_of("did:web:out.test"), "complete");
}

TEST_F(AuditTest, the_first_begins_a_day_after_the_first_start) {
  begin();
  EXPECT_EQ(list("state"), "listed");
  clock_.advance(24h - 1s);
  begin();
  EXPECT_EQ(list("state"), "listed");
  clock_.advance(1s);
  begin();
  EXPECT_EQ(list("state || listed || is_operator_specified || (cursor IS NULL)"), "none0truetrue");
}

TEST_F(AuditTest, the_next_begins_a_day_after_the_last_began) {
  begin();
  clock_.advance(24h);
  begin();
  session().run("UPDATE skua.backfill_hosts SET state = 'listing', listed = 7");
  clock_.advance(48h);
  begin();
  EXPECT_EQ(list("state || listed"), "listing7") << "it is still under way";
  end();
  begin();
  EXPECT_EQ(list("state || listed"), "none0");
  end("failed");
  clock_.advance(23h);
  begin();
  EXPECT_EQ(list("state"), "failed");
  clock_.advance(1h);
  begin();
  EXPECT_EQ(list("state"), "none");
}

TEST_F(AuditTest, a_filter_of_accounts_holds_it_back_unless_it_was_asked_for) {
  session().run("INSERT INTO skua.filter VALUES ('did', 'did:web:in.test')");
  begin();
  clock_.advance(24h);
  begin();
  EXPECT_EQ(list("state"), "listed");
  begin(true);
  EXPECT_EQ(list("state"), "none");
}

TEST_F(AuditTest, backfills_do_not_see_its_lists) {
  begin();
  clock_.advance(24h);
  begin();
  const JobLeaseRequest request{"skua audit test", clock_.now()};
  EXPECT_TRUE(lease_lists(session(), 10, request).empty());
  EXPECT_FALSE(next_page_due(session()));
  EXPECT_TRUE(list_counts(session()).empty());
  EXPECT_TRUE(next_page_due(session(), ListPurpose::Audit));
  EXPECT_EQ(list_counts(session(), ListPurpose::Audit).count(kAuditOfHosts), 1U);
  EXPECT_EQ(lease_lists(session(), 10, request, ListPurpose::Audit).size(), 1U);
}

}  // namespace
}  // namespace skua::backfill::audit_test
