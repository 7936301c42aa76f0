#include "tables/repository_table.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"

namespace skua::tables::repository_table_test {
namespace {

using namespace std::chrono_literals;

const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";
const std::string kCarol = "did:plc:carol";

atproto::RepositoryHead head(std::uint64_t rev) {
  return {{rev}, atproto::Cid::of(as_bytes("tree " + std::to_string(rev)))};
}

RepositoryProgress progress(const std::string& did, std::uint64_t rev, std::int32_t breaks = 0,
                            bool active = true) {
  return {{did, head(rev), active}, breaks};
}

class RepositoryTableTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  void save(const std::vector<RepositoryProgress>& all, Resync resync = Resync::Complete) {
    save_repositories(session(), all, resync, clock_.now());
  }
  RepositoryRow load(const std::string& did) {
    const auto rows = load_repositories(session(), std::vector{did});
    return rows.size() == 1 ? rows.front() : RepositoryRow{"none or several", std::nullopt, false};
  }
  std::string column(const std::string& did, const std::string& expression) {
    return value("SELECT " + expression + " FROM skua.repositories WHERE did = '" + did + "'");
  }
  std::vector<std::string> take(std::size_t limit = 10) {
    std::vector<std::string> dids;
    for (DueResync& due : take_due_resyncs(session(), clock_.now(), 10min, limit)) {
      dids.push_back(std::move(due.did));
    }
    std::sort(dids.begin(), dids.end());
    return dids;
  }

  test::ManualClock clock_;
};

using Dids = std::vector<std::string>;

TEST_F(RepositoryTableTest, what_is_saved_is_loaded) {
  save({progress(kAlice, (std::uint64_t{1} << 62) + 5),
        progress(kBob, 7, 0, false),
        {{kCarol, std::nullopt, false}, 0}});
  const auto rows = load_repositories(session(), Dids{kAlice, "did:plc:nobody"});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].did, kAlice);
  EXPECT_EQ(rows[0].head, head((std::uint64_t{1} << 62) + 5));
  EXPECT_TRUE(rows[0].active);
  EXPECT_EQ(load(kBob).head, head(7));
  EXPECT_FALSE(load(kBob).active);
  EXPECT_EQ(load(kCarol).head, std::nullopt);
  EXPECT_FALSE(load(kCarol).active);
  EXPECT_EQ(load_repositories(session(), Dids{kAlice, kBob, kCarol}).size(), 3U);
  EXPECT_TRUE(load_repositories(session(), Dids{}).empty());
}

TEST_F(RepositoryTableTest, a_head_never_goes_back_and_never_goes_away) {
  save({progress(kAlice, 10)});
  save({progress(kAlice, 9)});
  EXPECT_EQ(load(kAlice).head, head(10));
  save({progress(kAlice, 10)});
  EXPECT_EQ(load(kAlice).head, head(10));
  save({{{kAlice, std::nullopt, false}, 0}});
  EXPECT_EQ(load(kAlice).head, head(10)) << "an #account of a repository that is not known";
  EXPECT_FALSE(load(kAlice).active);
  save({progress(kAlice, 11)});
  EXPECT_EQ(load(kAlice).head, head(11));
  EXPECT_TRUE(load(kAlice).active);
}

TEST_F(RepositoryTableTest, a_first_head_comes_after_a_row_without_one) {
  save({{{kAlice, std::nullopt, true}, 0}});
  save({progress(kAlice, 3)});
  EXPECT_EQ(load(kAlice).head, head(3));
}

RepositoryProgress birth(const std::string& did, std::uint64_t rev, std::int32_t breaks = 0) {
  return {{did, head(rev), true}, breaks, atproto::Tid{rev}, atproto::Tid{rev}};
}

TEST_F(RepositoryTableTest, one_that_was_empty_before_its_first_message_is_complete) {
  // The first message of bob was an #account message.
  save({{{kBob, std::nullopt, true}, 0}});
  save({birth(kAlice, 5), birth(kBob, 5), progress(kCarol, 5)});
  for (const std::string& did : {kAlice, kBob}) EXPECT_EQ(column(did, "state"), "complete") << did;
  EXPECT_EQ(column(kCarol, "state"), "partial");
  // A break after that, in the same save or later, makes the repository desynchronized.
  save({birth("did:plc:dave", 7, 1), progress(kAlice, 8, 1), progress(kCarol, 8, 1)});
  for (const std::string& did : {std::string("did:plc:dave"), kAlice}) {
    EXPECT_EQ(column(did, "state"), "desynchronized") << did;
  }
  EXPECT_EQ(column(kCarol, "state"), "partial");
  EXPECT_EQ(take(), (Dids{kAlice, "did:plc:dave"}));
}

TEST_F(RepositoryTableTest, a_birth_changes_nothing_of_a_repository_that_is_known) {
  save({progress(kAlice, 3)});
  ask_for_resync(session(), kBob, clock_.now());
  save({birth(kAlice, 5), birth(kBob, 5)});
  EXPECT_EQ(column(kAlice, "state"), "partial");
  EXPECT_EQ(column(kBob, "state"), "desynchronized");
}

TEST_F(RepositoryTableTest, one_with_rows_from_before_its_birth_is_not_complete) {
  const auto like = [&](const std::string& did, std::int64_t rev) {
    session().run("INSERT INTO bsky.actors (did, indexed_at) VALUES ('" + did +
                  "', now()) ON CONFLICT DO NOTHING");
    session().run("INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid) SELECT id, " +
                  std::to_string(rev) + ", " + std::to_string(rev) +
                  ", now(), '\\x00' FROM bsky.actors WHERE did = '" + did + "'");
  };
  like(kAlice, 4);
  like(kBob, 5);
  like(kBob, 6);
  save({birth(kAlice, 5), birth(kBob, 5)});
  EXPECT_EQ(column(kAlice, "state"), "partial") << "it has a like that its repository lacks";
  EXPECT_EQ(column(kBob, "state"), "complete");
}

TEST_F(RepositoryTableTest, more_than_one_statement_holds_are_saved) {
  std::vector<RepositoryProgress> all;
  for (std::uint64_t i = 1; i <= 10'001; ++i) {
    all.push_back(progress("did:plc:" + std::to_string(100'000 + i), i));
  }
  save(all);
  EXPECT_EQ(value("SELECT count(*) || ' ' || sum(rev) FROM skua.repositories"), "10001 50015001");
}

TEST_F(RepositoryTableTest, breaks_are_summed_and_the_last_ones_time_is_kept) {
  save({progress(kAlice, 1, 2)});
  clock_.advance(1h);
  save({progress(kAlice, 2, 3), progress(kBob, 2)});
  clock_.advance(1h);
  save({progress(kAlice, 3)});
  EXPECT_EQ(column(kAlice, "breaks || ' ' || broke_at"), "5 2026-01-02 01:00:00+00");
  EXPECT_EQ(column(kBob, "breaks || coalesce(broke_at::text, ' never')"), "0 never");
}

/// The effect of a break on a repository in each state.
struct Broken {
  const char* name;
  const char* state;  // null: no row
  Resync resync;
  const char* becomes;
  bool is_due;
};

class RepositoryBreaks : public RepositoryTableTest, public testing::WithParamInterface<Broken> {};

TEST_P(RepositoryBreaks, lead_to) {
  if (GetParam().state != nullptr) {
    save({progress(kAlice, 1)});
    session().run(std::string("UPDATE skua.repositories SET state = '") + GetParam().state + "'");
  }
  save({progress(kAlice, 2)}, GetParam().resync);
  EXPECT_EQ(column(kAlice, "state"), GetParam().state == nullptr ? "partial" : GetParam().state)
      << "what follows changes no state";
  if (GetParam().state == nullptr) session().run("DELETE FROM skua.repositories");
  save({progress(kAlice, 3, 1)}, GetParam().resync);
  EXPECT_EQ(column(kAlice, "state"), GetParam().becomes);
  EXPECT_EQ(take(), GetParam().is_due ? Dids{kAlice} : Dids{});
}

INSTANTIATE_TEST_SUITE_P(
    Table, RepositoryBreaks,
    testing::Values(Broken{"new_complete_only", nullptr, Resync::Complete, "partial", false},
                    Broken{"new_all", nullptr, Resync::All, "desynchronized", true},
                    Broken{"partial_complete_only", "partial", Resync::Complete, "partial", false},
                    Broken{"partial_all", "partial", Resync::All, "desynchronized", true},
                    Broken{"complete_complete_only", "complete", Resync::Complete, "desynchronized",
                           true},
                    Broken{"complete_all", "complete", Resync::All, "desynchronized", true}),
    [](const auto& test) { return test.param.name; });

TEST_F(RepositoryTableTest, what_was_dropped_makes_any_repository_wait_for_a_resync) {
  save({progress(kAlice, 1), progress(kBob, 2, 0, false)});
  session().run("UPDATE skua.repositories SET state = 'complete' WHERE did = '" + kBob + "'");
  desynchronize(session(), {}, clock_.now());
  EXPECT_EQ(take(), Dids{});
  desynchronize(session(), std::vector<Gap>{{kAlice}, {kBob}, {kCarol}}, clock_.now());
  EXPECT_EQ(take(), (Dids{kAlice, kBob, kCarol}));
  EXPECT_EQ(load(kAlice).head, head(1));
  EXPECT_EQ(load(kBob).head, head(2));
  EXPECT_FALSE(load(kBob).active);
  EXPECT_EQ(load(kCarol).head, std::nullopt);
  EXPECT_EQ(column(kCarol, "state || ' ' || breaks || ' ' || active"), "desynchronized 0 true");
  // One that waits, or is leased, is not hurried.
  desynchronize(session(), std::vector<Gap>{{kAlice}}, clock_.now());
  EXPECT_EQ(take(), Dids{});
  clock_.advance(10min);
  EXPECT_EQ(take(), (Dids{kAlice, kBob, kCarol}));
}

TEST_F(RepositoryTableTest, a_resync_must_reach_the_commit_that_was_not_applied) {
  save({progress(kAlice, 5)});
  desynchronize(session(), std::vector<Gap>{{kAlice, atproto::Tid{7}}}, clock_.now());
  EXPECT_TRUE(load(kAlice).wants_whole);
  // A further gap while it waits.
  desynchronize(session(), std::vector<Gap>{{kAlice, atproto::Tid{9}}}, clock_.now() + 1h);
  desynchronize(session(), std::vector<Gap>{{kAlice, atproto::Tid{8}}}, clock_.now() + 1h);
  EXPECT_EQ(take(), Dids{kAlice}) << "it is not delayed";
  EXPECT_FALSE(resync_done(session(), kAlice, head(8), clock_.now()));
  EXPECT_EQ(column(kAlice, "state"), "desynchronized");
  EXPECT_TRUE(resync_done(session(), kAlice, head(9), clock_.now()));
  EXPECT_EQ(column(kAlice, "state || coalesce(reason, '')"), "complete");
}

TEST_F(RepositoryTableTest, a_due_resync_has_its_host_and_is_postponed_with_its_reservation) {
  session().run("INSERT INTO skua.identities (did, pds, fetched_at) VALUES ('" + kAlice +
                "', 'https://pds.test', now())");
  save({progress(kBob, 5, 1)}, Resync::All);
  desynchronize(session(), std::vector<Gap>{{kAlice, atproto::Tid{7}}}, clock_.now());
  const auto due = [&] {
    std::vector<std::string> texts;
    for (const DueResync& one : take_due_resyncs(session(), clock_.now(), 10min, 9)) {
      texts.push_back(one.did + " " + one.host + (one.has_gap ? " gap" : ""));
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  };
  EXPECT_EQ(due(), (Dids{kAlice + " https://pds.test gap", kBob + " "}));
  postpone_resyncs(session(), std::vector<PostponedResync>{{kAlice, clock_.now() + 1s},
                                                           {kBob, clock_.now() + 2s}});
  EXPECT_EQ(due(), Dids{});
  clock_.advance(1s);
  EXPECT_EQ(due(), Dids{kAlice + " https://pds.test gap"});
  postpone_resyncs(session(), std::vector<PostponedResync>{{kAlice, clock_.now() + 1s, true}});
  clock_.advance(1s);
  EXPECT_EQ(due(), (Dids{kAlice + " https://pds.test", kBob + " "}));
  EXPECT_TRUE(load(kAlice).wants_whole);
}

TEST_F(RepositoryTableTest, a_further_break_does_not_hurry_a_resync_that_waits_or_is_leased) {
  save({progress(kAlice, 1, 1)}, Resync::All);
  EXPECT_EQ(take(), Dids{kAlice});
  save({progress(kAlice, 2, 1)}, Resync::All);
  EXPECT_EQ(take(), Dids{});
  clock_.advance(10min);
  EXPECT_EQ(take(), Dids{kAlice});
}

TEST_F(RepositoryTableTest, a_leased_resync_is_not_given_twice_until_its_lease_ends) {
  ask_for_resync(session(), kAlice, clock_.now());
  EXPECT_EQ(take(), Dids{kAlice});
  EXPECT_EQ(take(), Dids{});
  clock_.advance(10min - 1us);
  EXPECT_EQ(take(), Dids{});
  clock_.advance(1us);
  EXPECT_EQ(take(), Dids{kAlice});
}

TEST_F(RepositoryTableTest, what_another_session_is_taking_is_passed_over) {
  ask_for_resync(session(), kAlice, clock_.now());
  ask_for_resync(session(), kBob, clock_.now() + 1s);
  clock_.advance(1s);
  postgres::Session other(database_.url(), "other");
  {
    postgres::Transaction open(other);
    EXPECT_EQ(take_due_resyncs(other, clock_.now(), 10min, 1).front().did, kAlice);
    EXPECT_EQ(take(), Dids{kBob});
    // It fails before it commits: then it was never leased.
  }
  EXPECT_EQ(take(), Dids{kAlice});
}

TEST_F(RepositoryTableTest, those_that_wait_longest_are_taken_first) {
  ask_for_resync(session(), kCarol, clock_.now());
  ask_for_resync(session(), kAlice, clock_.now() + 2s);
  ask_for_resync(session(), kBob, clock_.now() + 1s);
  ask_for_resync(session(), "did:plc:later", clock_.now() + 1h);
  clock_.advance(10s);
  EXPECT_EQ(take(0), Dids{});
  EXPECT_EQ(take(2), (Dids{kBob, kCarol}));
  EXPECT_EQ(take(2), Dids{kAlice});
  EXPECT_EQ(take(2), Dids{});
}

TEST_F(RepositoryTableTest, a_failed_resync_waits_longer_each_time) {
  ask_for_resync(session(), kAlice, clock_.now());
  for (const auto wait : {60s, 120s, 240s}) {
    EXPECT_EQ(take(), Dids{kAlice});
    resync_failed(session(), kAlice, "no answer", clock_.now());
    clock_.advance(wait - 1s);
    EXPECT_EQ(take(), Dids{});
    clock_.advance(1s);
  }
  EXPECT_EQ(column(kAlice, "attempts || ' ' || error || ' ' || state"),
            "3 no answer desynchronized");
  // A requested resync does not wait for this delay.
  resync_failed(session(), kAlice, "no answer", clock_.now());
  EXPECT_EQ(take(), Dids{});
  ask_for_resync(session(), kAlice, clock_.now());
  EXPECT_EQ(column(kAlice, "attempts || coalesce(error, ' none')"), "0 none");
  EXPECT_EQ(take(), Dids{kAlice});
}

TEST_F(RepositoryTableTest, a_failure_of_what_is_not_asked_for_is_nothing) {
  save({progress(kAlice, 1)});
  resync_failed(session(), kAlice, "no answer", clock_.now());
  resync_failed(session(), kBob, "no answer", clock_.now());
  EXPECT_EQ(value("SELECT count(*) || ' ' || max(attempts) || ' ' || count(next_attempt) "
                  "FROM skua.repositories"),
            "1 0 0");
}

TEST_F(RepositoryTableTest, a_resync_makes_complete_and_its_head_does_not_go_back) {
  save({progress(kAlice, 10, 4, false)}, Resync::All);
  resync_failed(session(), kAlice, "no answer", clock_.now());
  EXPECT_TRUE(resync_done(session(), kAlice, head(8), clock_.now()));
  EXPECT_EQ(column(kAlice, "concat_ws(' ', state, attempts, error, next_attempt, breaks)"),
            "complete 0 4");
  EXPECT_EQ(load(kAlice).head, head(10));
  EXPECT_FALSE(load(kAlice).active);
  EXPECT_TRUE(resync_done(session(), kAlice, head(12), clock_.now()));
  EXPECT_EQ(load(kAlice).head, head(12));
  EXPECT_TRUE(resync_done(session(), kBob, head(1), clock_.now()));
  EXPECT_EQ(column(kBob, "state"), "complete");
  EXPECT_EQ(load(kBob).head, head(1));
  clock_.advance(std::chrono::hours(48));
  EXPECT_EQ(take(), Dids{});
  // And a break of it counts again.
  save({progress(kBob, 2, 1)});
  EXPECT_EQ(take(), Dids{kBob});
}

TEST_F(RepositoryTableTest, a_resync_gives_a_row_without_head_its_head) {
  ask_for_resync(session(), kAlice, clock_.now());
  EXPECT_EQ(load(kAlice).head, std::nullopt);
  EXPECT_TRUE(load(kAlice).active);
  EXPECT_TRUE(resync_done(session(), kAlice, head(5), clock_.now()));
  EXPECT_EQ(load(kAlice).head, head(5));
}

RepositoryProgress anchored(const std::string& did, std::uint64_t rev, std::uint64_t anchor,
                            std::int32_t breaks) {
  RepositoryProgress made = progress(did, rev, breaks);
  made.anchor = atproto::Tid{anchor};
  return made;
}

TEST_F(RepositoryTableTest, a_resync_older_than_a_break_leaves_a_gap) {
  save({anchored(kAlice, 10, 10, 1)}, Resync::All);
  EXPECT_EQ(take(), Dids{kAlice});
  // While it is under way, something else is missed.
  save({anchored(kAlice, 15, 14, 1)}, Resync::All);
  EXPECT_FALSE(resync_done(session(), kAlice, head(12), clock_.now()));
  EXPECT_EQ(column(kAlice, "concat_ws(' ', state, attempts, error, anchor)"),
            "desynchronized 0 14");
  EXPECT_EQ(load(kAlice).head, head(15));
  EXPECT_EQ(take(), Dids{kAlice});
  // Messages without a gap after the anchor need no resync.
  EXPECT_TRUE(resync_done(session(), kAlice, head(14), clock_.now()));
  EXPECT_EQ(column(kAlice, "state"), "complete");
}

TEST_F(RepositoryTableTest, history_older_than_what_was_seen_first_leaves_a_gap) {
  save({anchored(kAlice, 12, 11, 0)});
  EXPECT_FALSE(resync_done(session(), kAlice, head(9), clock_.now()));
  EXPECT_EQ(take(), Dids{kAlice});
  EXPECT_TRUE(resync_done(session(), kAlice, head(11), clock_.now()));
}

TEST_F(RepositoryTableTest, an_anchor_does_not_go_back) {
  save({anchored(kAlice, 12, 11, 0)});
  save({progress(kAlice, 13)});
  EXPECT_EQ(column(kAlice, "anchor"), "11");
  save({anchored(kAlice, 14, 9, 0)});
  EXPECT_EQ(column(kAlice, "anchor"), "11");
}

struct Delay {
  int attempts;
  std::chrono::seconds delay;
};

class ResyncDelay : public testing::TestWithParam<Delay> {};

TEST_P(ResyncDelay, is) {
  EXPECT_EQ(resync_delay(GetParam().attempts), GetParam().delay);
}

INSTANTIATE_TEST_SUITE_P(Table, ResyncDelay,
                         testing::Values(Delay{-1, 60s}, Delay{0, 60s}, Delay{1, 60s},
                                         Delay{2, 120s}, Delay{3, 240s}, Delay{11, 61'440s},
                                         Delay{12, 24h}, Delay{13, 24h}, Delay{1'000'000, 24h}),
                         [](const auto& test) { return "case" + std::to_string(test.index); });

}  // namespace
}  // namespace skua::tables::repository_table_test
