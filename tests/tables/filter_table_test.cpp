#include "tables/filter_table.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "support/manual_clock.hpp"
#include "support/postgres.hpp"
#include "tables/repository_table.hpp"

namespace skua::tables::filter_table_test {
namespace {

const std::string kPost = "app.bsky.feed.post";
const std::string kAlice = "did:plc:alice";
const std::string kBob = "did:plc:bob";

class FilterTableTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  FilterChange change(FilterEdit edit, std::vector<std::string> collections,
                      std::vector<std::string> dids = {}) {
    return change_filter(session(), edit, {std::move(collections), std::move(dids)});
  }
  FilterState state() { return load_filter_state(session()); }
  /// A repository that was asked for as of a version of the filter.
  void finish(const std::string& did, std::int64_t version) {
    const WholeRepository whole{did, {{7}, atproto::Cid::of(as_bytes("tree"))}, version};
    resyncs_done(session(), {&whole, 1}, clock_.now());
  }
  std::string column(const std::string& did, const std::string& expression) {
    return value("SELECT " + expression + " FROM skua.repositories WHERE did = '" + did + "'");
  }
  /// As if the filter had become wider long ago.
  void let_it_settle() {
    session().run("UPDATE skua.filter_state SET widened_at = widened_at - interval '1 minute'");
  }

  test::ManualClock clock_;
};

TEST_F(FilterTableTest, at_first_everything_passes) {
  const auto filter = load_filter(session());
  EXPECT_TRUE(filter->content().empty());
  EXPECT_TRUE(filter->passes_collection(kPost));
  EXPECT_TRUE(filter->passes_did(kAlice));
  EXPECT_EQ(filter->version(), state().version);
  EXPECT_EQ(state().settled, state().version);
  EXPECT_FALSE(state().is_marking);
}

TEST_F(FilterTableTest, what_is_changed_is_loaded_and_told) {
  const std::int64_t first = state().version;
  FilterChange did = change(FilterEdit::Set, {kPost}, {kAlice, kBob});
  EXPECT_TRUE(did.before.empty());
  EXPECT_EQ(did.after.dids, (std::vector<std::string>{kAlice, kBob}));
  did = change(FilterEdit::Add, {"app.bsky.graph.*"}, {kAlice});
  EXPECT_EQ(did.after.collections, (std::vector<std::string>{kPost, "app.bsky.graph.*"}));
  did = change(FilterEdit::Remove, {kPost}, {kBob, "did:plc:nobody"});
  EXPECT_EQ(did.after.collections, std::vector<std::string>{"app.bsky.graph.*"});
  EXPECT_EQ(did.after.dids, std::vector<std::string>{kAlice});
  const auto filter = load_filter(session());
  EXPECT_EQ(filter->content(), did.after);
  EXPECT_EQ(filter->version(), first + 3);
  EXPECT_FALSE(filter->passes_collection(kPost));
  EXPECT_TRUE(filter->passes_collection("app.bsky.graph.follow"));
  EXPECT_TRUE(filter->passes_did(kAlice));
  EXPECT_FALSE(filter->passes_did(kBob));
}

TEST_F(FilterTableTest, what_changes_nothing_raises_no_version) {
  change(FilterEdit::Set, {kPost});
  const std::int64_t version = state().version;
  EXPECT_FALSE(change(FilterEdit::Set, {kPost}).is_change());
  EXPECT_FALSE(change(FilterEdit::Add, {kPost}).is_change());
  EXPECT_FALSE(change(FilterEdit::Remove, {"a.b.c"}).is_change());
  EXPECT_EQ(state().version, version);
}

TEST_F(FilterTableTest, what_is_nothing_of_the_kind_is_refused_and_leaves_it) {
  change(FilterEdit::Set, {kPost});
  EXPECT_THROW(change(FilterEdit::Set, {"posts"}), postgres::DataError);
  EXPECT_THROW(change(FilterEdit::Set, {}, {"bsky.app"}), postgres::DataError);
  EXPECT_EQ(load_filter(session())->content().collections, std::vector<std::string>{kPost});
}

TEST_F(FilterTableTest, sql_changes_it_as_well_and_once_a_transaction) {
  const std::int64_t first = state().version;
  session().run("INSERT INTO skua.filter VALUES ('collection', 'app.bsky.feed.post')");
  EXPECT_EQ(state().version, first + 1);
  // Within the transaction everything passes the filter, but no other session sees that.
  session().run(
      "BEGIN; DELETE FROM skua.filter; "
      "INSERT INTO skua.filter VALUES ('collection', 'app.bsky.feed.post'), ('did', 'did:plc:a'); "
      "COMMIT");
  EXPECT_EQ(state().version, first + 2);
  EXPECT_EQ(state().widened, 0);
  session().run("TRUNCATE skua.filter");
  EXPECT_EQ(state().version, first + 3);
  EXPECT_EQ(state().widened, first + 3);
  EXPECT_TRUE(load_filter(session())->content().empty());
}

/// A change, and whether more collections pass afterwards.
struct Change {
  const char* name;
  std::vector<std::string> before;
  std::vector<std::string> after;
  bool is_wider;
};

class WiderFilter : public FilterTableTest, public testing::WithParamInterface<Change> {};

TEST_P(WiderFilter, makes_complete_repositories_wait_for_a_resync) {
  change(FilterEdit::Set, GetParam().before);
  let_it_settle();
  finish(kAlice, state().settled);
  save_repositories(session(), std::vector<RepositoryProgress>{{{kBob, std::nullopt}}},
                    Resync::Complete, clock_.now());
  ASSERT_EQ(column(kAlice, "state"), "complete");
  change(FilterEdit::Set, GetParam().after);
  EXPECT_EQ(state().widened == state().version, GetParam().is_wider);
  EXPECT_EQ(column(kAlice, "state"), GetParam().is_wider ? "desynchronized" : "complete");
  EXPECT_EQ(column(kAlice, "reason IS NOT NULL"), GetParam().is_wider ? "t" : "f");
  EXPECT_EQ(column(kBob, "state"), "partial");
}

INSTANTIATE_TEST_SUITE_P(
    , WiderFilter,
    testing::Values(
        Change{"first_filter", {}, {kPost}, false}, Change{"no_filter_any_more", {kPost}, {}, true},
        Change{"one_more", {kPost}, {kPost, "app.bsky.feed.like"}, true},
        Change{"one_less", {kPost, "app.bsky.feed.like"}, {kPost}, false},
        Change{"another", {kPost}, {"app.bsky.feed.like"}, true},
        Change{"a_name_of_the_prefix", {"app.bsky.feed.*"}, {kPost}, false},
        Change{"a_prefix_of_the_name", {kPost}, {"app.bsky.feed.*"}, true},
        Change{"a_longer_prefix", {"app.bsky.*"}, {"app.bsky.feed.*"}, false},
        Change{"a_shorter_prefix", {"app.bsky.feed.*"}, {"app.bsky.*"}, true},
        Change{"a_name_that_begins_alike", {kPost}, {"app.bsky.feed.postgate"}, true},
        // An underscore and a percent sign mean nothing here, and there is none in names.
        Change{"a_neighbour_of_the_prefix", {"app.bsky.feed.*"}, {"app.bsky.feeds.post"}, true}),
    [](const auto& tested) { return tested.param.name; });

TEST_F(FilterTableTest, accounts_alone_make_nothing_wait) {
  finish(kAlice, state().settled);
  change(FilterEdit::Set, {}, {kBob});
  change(FilterEdit::Set, {}, {kAlice});
  change(FilterEdit::Set, {});
  EXPECT_EQ(column(kAlice, "state"), "complete");
  EXPECT_EQ(state().widened, 0);
}

TEST_F(FilterTableTest, what_was_asked_for_under_a_narrower_one_is_not_complete) {
  change(FilterEdit::Set, {kPost});
  const std::int64_t before = state().settled;
  change(FilterEdit::Set, {});
  finish(kAlice, before);
  EXPECT_EQ(column(kAlice, "state"), "desynchronized");
  EXPECT_EQ(column(kAlice, "reason IS NOT NULL AND next_attempt IS NOT NULL"), "t");
  // Running processes may not have read it yet.
  finish(kBob, state().settled);
  EXPECT_EQ(column(kBob, "state"), "desynchronized");
  let_it_settle();
  finish(kAlice, state().settled);
  EXPECT_EQ(column(kAlice, "state"), "complete");
  EXPECT_EQ(column(kAlice, "reason IS NULL AND next_attempt IS NULL"), "t");
}

TEST_F(FilterTableTest, what_was_asked_for_under_a_wider_one_is_complete) {
  const std::int64_t before = state().settled;
  change(FilterEdit::Set, {kPost});
  finish(kAlice, before);
  EXPECT_EQ(column(kAlice, "state"), "complete");
}

TEST_F(FilterTableTest, many_repositories_are_marked_step_by_step) {
  session().run(
      "INSERT INTO skua.repositories (did, state) SELECT 'did:plc:' || i, "
      "CASE WHEN i % 3 = 0 THEN 'partial' ELSE 'complete' END FROM generate_series(1, 45000) AS i");
  change(FilterEdit::Set, {kPost});
  change(FilterEdit::Set, {});
  EXPECT_TRUE(state().is_marking);
  EXPECT_TRUE(mark_for_filter(session()));
  EXPECT_FALSE(mark_for_filter(session()));
  EXPECT_FALSE(mark_for_filter(session()));
  EXPECT_FALSE(state().is_marking);
  EXPECT_EQ(value("SELECT count(*) FROM skua.repositories WHERE state = 'complete'"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM skua.repositories WHERE state = 'partial'"), "15000");
}

TEST_F(FilterTableTest, a_process_that_was_late_has_it_become_wider_once_more) {
  change(FilterEdit::Set, {kPost});
  change(FilterEdit::Set, {});
  EXPECT_FALSE(state().is_late);
  let_it_settle();
  EXPECT_TRUE(state().is_late);
  finish(kAlice, state().settled);
  const std::int64_t version = state().version;
  widen_filter_again(session());
  EXPECT_EQ(column(kAlice, "state"), "desynchronized");
  EXPECT_EQ(state().version, version + 1);
  EXPECT_EQ(state().widened, version + 1);
  finish(kAlice, version);
  EXPECT_EQ(column(kAlice, "state"), "desynchronized");
}

TEST_F(FilterTableTest, a_finish_and_a_wider_filter_wait_for_each_other) {
  change(FilterEdit::Set, {kPost});
  const std::int64_t before = state().settled;
  postgres::Session other(database_.url(), "other");
  postgres::Transaction finishing(other);
  const WholeRepository whole{kAlice, {{7}, atproto::Cid::of(as_bytes("tree"))}, before};
  resyncs_done(other, {&whole, 1}, clock_.now());
  session().run("SET lock_timeout = '200ms'");
  EXPECT_THROW(change(FilterEdit::Set, {}), postgres::SqlError);
  finishing.commit();
  EXPECT_EQ(column(kAlice, "state"), "complete");
  change(FilterEdit::Set, {});
  EXPECT_EQ(column(kAlice, "state"), "desynchronized");
}

TEST_F(FilterTableTest, excluded_accounts_do_not_pass_and_do_not_depend_on_the_filter) {
  const std::int64_t first = state().version;
  EXPECT_EQ(exclude_accounts(session(), {kAlice, kAlice}), 1);
  EXPECT_EQ(exclude_accounts(session(), {kAlice}), 0);
  EXPECT_EQ(state().version, first + 1);
  const auto filter = load_filter(session());
  EXPECT_FALSE(filter->passes_did(kAlice));
  EXPECT_TRUE(filter->excludes(kAlice));
  EXPECT_TRUE(filter->passes_did(kBob));
  change(FilterEdit::Set, {}, {kAlice, kBob});
  EXPECT_FALSE(load_filter(session())->passes_did(kAlice));
  EXPECT_TRUE(load_filter(session())->passes_did(kBob));
  session().run("UPDATE skua.excluded_accounts SET removed_at = now()");
  EXPECT_EQ(state().version, first + 2) << "the removal of rows is no change";
  EXPECT_EQ(include_accounts(session(), {kAlice}), 1);
  EXPECT_TRUE(load_filter(session())->passes_did(kAlice));
  EXPECT_THROW(exclude_accounts(session(), {"alice"}), postgres::DataError);
}

TEST_F(FilterTableTest, an_account_that_is_not_excluded_any_more_is_downloaded_again) {
  finish(kAlice, state().version);
  finish(kBob, state().version);
  exclude_accounts(session(), {kAlice});
  EXPECT_EQ(column(kAlice, "state"), "complete");
  include_accounts(session(), {kAlice});
  EXPECT_EQ(column(kAlice, "state"), "desynchronized");
  EXPECT_EQ(column(kAlice, "reason"), "the account was excluded");
  EXPECT_EQ(column(kBob, "state"), "complete");
}

TEST_F(FilterTableTest, a_record_expires_by_the_time_of_its_collection) {
  using std::chrono::hours;
  const std::int64_t first = state().version;
  EXPECT_TRUE(set_retention(session(), kPost, hours(48)));
  EXPECT_FALSE(set_retention(session(), kPost, hours(48)));
  EXPECT_EQ(state().version, first + 1);
  const auto filter = load_filter(session());
  EXPECT_FALSE(filter->passes_all_records());
  const Timestamp now = clock_.now();
  EXPECT_TRUE(filter->is_expired(kPost, now - hours(49), now));
  EXPECT_FALSE(filter->is_expired(kPost, now - hours(47), now));
  EXPECT_FALSE(filter->is_expired(kPost, std::nullopt, now)) << "its age counts from its indexing";
  EXPECT_FALSE(filter->is_expired("app.bsky.feed.like", now - hours(49), now));
  EXPECT_TRUE(set_retention(session(), kPost, hours(24)));
  EXPECT_TRUE(load_filter(session())->is_expired(kPost, now - hours(25), now));
  EXPECT_TRUE(set_retention(session(), kPost, std::nullopt));
  EXPECT_FALSE(set_retention(session(), kPost, std::nullopt));
  EXPECT_TRUE(load_filter(session())->passes_all_records());
  EXPECT_THROW(set_retention(session(), "posts", hours(24)), postgres::DataError);
  EXPECT_THROW(set_retention(session(), kPost, std::chrono::seconds(59)), postgres::DataError);
}

TEST_F(FilterTableTest, the_accounts_on_a_list_and_its_owner_pass) {
  const std::string list = "at://" + kAlice + "/app.bsky.graph.list/3kabcdefghijk";
  session().run(
      "INSERT INTO bsky.actors (did, indexed_at) SELECT 'did:plc:' || n, now() FROM "
      "unnest('{alice,bob,carol,dave}'::text[]) AS n");
  change(FilterEdit::Set, {}, {"did:plc:dave"});
  FilterContent lists;
  lists.lists = {list};
  EXPECT_TRUE(change_filter(session(), FilterEdit::Add, lists).is_change());
  EXPECT_EQ(load_filter_entries(session()).lists, lists.lists);
  const auto accounts = [&] { return load_filter(session())->content().dids; };
  EXPECT_EQ(accounts(), (std::vector<std::string>{kAlice, "did:plc:dave"}))
      << "no account on the list is known";
  const std::int64_t version = state().version;
  refresh_filter_lists(session());
  EXPECT_EQ(state().version, version);
  // An item of another account does not count.
  session().run(
      "INSERT INTO bsky.list_items (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
      "list_actor, list_rkey) SELECT author.id, 7 + s.id, 1, now(), '\\x01', s.id, l.actor_id, "
      "l.rkey FROM bsky.resolve_uri('" +
      list +
      "') AS l, (VALUES ('did:plc:alice', 'did:plc:bob'), ('did:plc:dave', 'did:plc:carol')) AS "
      "v(author, subject) JOIN bsky.actors AS author ON author.did = v.author JOIN bsky.actors AS "
      "s ON s.did = v.subject");
  refresh_filter_lists(session());
  EXPECT_EQ(state().version, version + 1);
  EXPECT_EQ(accounts(), (std::vector<std::string>{kAlice, kBob, "did:plc:dave"}));
  session().run("DELETE FROM bsky.list_items");
  refresh_filter_lists(session());
  EXPECT_FALSE(load_filter(session())->passes_did(kBob));
  lists.lists = {"at://" + kAlice + "/app.bsky.feed.post/3kabcdefghijk"};
  EXPECT_THROW(change_filter(session(), FilterEdit::Add, lists), postgres::DataError);
}

}  // namespace
}  // namespace skua::tables::filter_table_test
