#include "moves/group_move.hpp"

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atproto/account_group.hpp"
#include "atproto/computed_number.hpp"
#include "moves/row_copy.hpp"
#include "postgres/database_watch.hpp"
#include "postgres/query_database.hpp"
#include "support/postgres.hpp"
#include "tables/account_groups.hpp"
#include "tables/cursor_store.hpp"
#include "tables/network_nodes.hpp"

namespace skua::moves::group_move_test {
namespace {

using atproto::GroupSet;
using testing::HasSubstr;
using testing::Property;
using testing::Throws;

/// Returns a DID of a group between two others.
std::string did_of(const std::string& name, unsigned first, unsigned last) {
  std::string did = "did:plc:" + name;
  while (atproto::account_group(did) < first || atproto::account_group(did) > last) did += 'x';
  return did;
}

TEST(AccountRanges, divide_groups_without_gaps) {
  for (const std::uint32_t parts : {1U, 4U, 4096U}) {
    const auto ranges = account_ranges(GroupSet::parse("0,62-63").value(), parts);
    ASSERT_EQ(ranges.size(), 3 * parts);
    EXPECT_EQ(ranges.front().first, 0);
    EXPECT_EQ(ranges[parts - 1].last, (AccountNumber{1} << kComputedBits) - 1);
    EXPECT_EQ(ranges[parts].first, AccountNumber{62} << kComputedBits);
    for (std::size_t i = parts + 1; i < ranges.size(); ++i) {
      EXPECT_EQ(ranges[i].first, ranges[i - 1].last + 1);
    }
    EXPECT_EQ(ranges.back().last, std::numeric_limits<AccountNumber>::max());
  }
}

/// A query database, the database of the fixture, and two nodes. The groups 16-31 move from west to
/// east.
class GroupMoveTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    tables::add_node(session(), "west", west_database_.url(), GroupSet::parse("0-31").value());
    tables::add_node(session(), "east", east_database_.url(), GroupSet::parse("32-63").value());
    tables::copy_nodes(session());
    key_ = tables::load_number_key(session()).value();
  }

  void move(const std::string& to, const std::string& groups = "16-31") {
    move_groups(session(), GroupSet::parse(groups).value(), to,
                [&](const std::string& line) { lines_.push_back(line); });
    for (auto* database : {&west_database_, &east_database_}) {
      postgres::database_watch().forget(database->url());
    }
  }
  std::string number(const std::string& did) const {
    return std::to_string(atproto::computed_account_number(key_, did));
  }
  static std::string at(postgres::Session& node, const std::string& sql) {
    const postgres::Rows rows = node.run(sql);
    return rows.empty() || rows.is_null(0, 0) ? "" : std::string(rows.text(0, 0));
  }
  void add_account(postgres::Session& node, const std::string& did, const std::string& columns = "",
                   const std::string& values = "") {
    node.run("INSERT INTO bsky.actors (id, did, indexed_at" + columns +
             ") OVERRIDING SYSTEM VALUE VALUES (" + number(did) + ", '" + did + "', 'epoch'" +
             values + ")");
  }
  void add_post(const std::string& did, int rkey, const std::string& cid) {
    west_.run("INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, cid, text) VALUES (" +
              number(did) + ", " + std::to_string(rkey) + ", 5, 'epoch', sha256('" + cid +
              "'), 'text of " + cid + "')");
  }
  /// A like without a CID relies on the first CID of its post.
  void add_like(const std::string& did, int rkey, const std::string& of, int post) {
    west_.run(
        "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
        "subject_collection, subject_rkey) VALUES (" +
        number(did) + ", " + std::to_string(rkey) + ", 5, 'epoch', sha256('like'), " + number(of) +
        ", 1, " + std::to_string(post) + ")");
  }

  /// Adds a projection of sums and one of rows, whose tables count these moves.
  static void build(postgres::Session& node, const std::string& moves) {
    node.run("DELETE FROM skua.consumers");
    node.run("DELETE FROM skua.consumer_lanes");
    for (const char* name : {"post_stats", "tag_trends"}) {
      node.run(
          "WITH c AS (INSERT INTO skua.consumers (version, lanes, name, kind, role, state, "
          "policy, profile) VALUES (1, 1, '" +
          std::string(name) +
          "', 'projection', 'live', 'running', 'pause', 'default') RETURNING id) INSERT INTO "
          "skua.consumer_lanes (pos, consumer_id, lane, counted_moves) SELECT 1, id, 0, '" +
          moves + "' FROM c");
    }
  }
  /// Returns the projections that are to be built again.
  static std::string to_build(postgres::Session& node) {
    return at(node,
              "SELECT string_agg(name, ' ' ORDER BY name) FROM skua.consumers WHERE role = 'next'");
  }

  test::Database west_database_;
  test::Database east_database_;
  postgres::Session west_{west_database_.url(), "test"};
  postgres::Session east_{east_database_.url(), "test"};
  atproto::NumberKey key_{};
  std::vector<std::string> lines_;
  const std::string mover_ = did_of("mover", 16, 31);
  const std::string stayer_ = did_of("stayer", 0, 15);
  const std::string friend_ = did_of("friend", 32, 63);
};

TEST_F(GroupMoveTest, a_backup_from_before_the_move_does_not_write) {
  const auto check = [](postgres::Session& node) {
    tables::require_present_groups(node, tables::load_account_groups(node).owned);
  };
  move("east");
  check(west_);
  check(east_);
  // The state of west in the backup.
  west_.run(
      "DELETE FROM skua.group_moves; UPDATE skua.account_groups SET owned = ARRAY(SELECT "
      "generate_series(0, 31))");
  EXPECT_THAT([&] { check(west_); },
              Throws<postgres::NodeError>(
                  Property(&std::exception::what,
                           HasSubstr("the node east has taken groups of this database (16-31)"))));
  check(east_);
  // Without the other node, there is nothing to compare with.
  west_.run("UPDATE skua.nodes SET url = 'postgresql:///none' WHERE name = 'east'");
  check(west_);
}

TEST_F(GroupMoveTest, groups_that_came_back_are_those_of_the_first_node) {
  move("east");
  move("west");
  const auto state = [](postgres::Session& node) {
    return tables::load_account_groups(node).owned.text();
  };
  EXPECT_EQ(state(west_) + " " + state(east_), "0-31 32-63");
  // The state of east in a backup from between the moves.
  east_.run(
      "DELETE FROM skua.group_moves WHERE number = 2; UPDATE skua.account_groups SET owned = "
      "ARRAY(SELECT generate_series(16, 63))");
  tables::require_present_groups(west_, tables::load_account_groups(west_).owned);
  EXPECT_THROW(tables::require_present_groups(east_, tables::load_account_groups(east_).owned),
               postgres::NodeError);
}

TEST_F(GroupMoveTest, the_rows_of_accounts_move_and_those_of_others_stay) {
  for (const std::string& did : {stayer_, friend_}) add_account(west_, did);
  add_account(west_, mover_, ", handle, handle_claim, active, floor_rev",
              ", 'm.test', 'm.test', true, 3");
  add_account(east_, mover_);
  add_account(east_, friend_);
  add_post(mover_, 1, "liked by the stayer");
  add_post(mover_, 2, "liked by nobody");
  add_post(mover_, 3, "liked by the mover");
  add_post(stayer_, 4, "stays");
  add_like(stayer_, 10, mover_, 1);
  add_like(mover_, 11, stayer_, 4);
  add_like(mover_, 12, mover_, 3);
  west_.run("INSERT INTO bsky.rkeys VALUES (-7, " + number(mover_) + ", 9, 'of the mover'), (-8, " +
            number(stayer_) + ", 9, 'mentioned'), (-9, " + number(stayer_) + ", 9, 'of others')");
  west_.run(
      "INSERT INTO bsky.list_blocks (actor_id, rkey, rev, indexed_at, cid, list_actor, "
      "list_rkey) VALUES (" +
      number(mover_) + ", 13, 5, 'epoch', sha256('block'), " + number(stayer_) + ", -8)");
  west_.run("INSERT INTO skua.tombstones VALUES (20, 1, 1, " + number(mover_) +
            ", 1, 'relay:a'), "
            "(21, 1, 1, " +
            number(stayer_) + ", 1, 'relay:a')");
  west_.run("INSERT INTO skua.replies_below VALUES (now(), 30, 5, 1, " + number(mover_) +
            ", 2), (now(), 31, 5, 4, " + number(stayer_) + ", 1)");
  west_.run("INSERT INTO skua.repositories (did, rev) VALUES ('" + mover_ + "', 5), ('" + stayer_ +
            "', 6)");
  west_.run(
      "INSERT INTO skua.backfill_jobs (did, created_at, next_attempt, state, lease_until, "
      "lease_owner) VALUES ('" +
      mover_ + "', now(), now(), 'running', now(), 'a process')");
  west_.run(
      "INSERT INTO skua.dead_letter (consumer, key, error, did) VALUES ('indexer', 'a', "
      "'why', '" +
      mover_ + "'), ('indexer', 'b', 'why', '" + stayer_ + "')");
  move("east");
  EXPECT_EQ(at(east_, "SELECT string_agg(text, ', ' ORDER BY rkey) FROM bsky.posts"),
            "text of liked by the stayer, text of liked by nobody, text of liked by the mover");
  EXPECT_EQ(at(east_,
               "SELECT bool_and(subject_cid = sha256(convert_to(CASE rkey WHEN 11 THEN "
               "'stays' ELSE 'liked by the mover' END, 'UTF8'))) FROM bsky.likes"),
            "t")
      << "the posts may be on other nodes";
  EXPECT_EQ(at(east_,
               "SELECT concat_ws(' ', handle, active, floor_rev) FROM bsky.actors WHERE "
               "id = " +
                   number(mover_)),
            "m.test t 3");
  EXPECT_EQ(at(east_, "SELECT string_agg(did, ' ' ORDER BY did = '" + mover_ + "', did = '" +
                          stayer_ + "') FROM bsky.actors"),
            friend_ + " " + stayer_ + " " + mover_);
  EXPECT_EQ(at(east_, "SELECT string_agg(text, ', ' ORDER BY rkey DESC) FROM bsky.rkeys"),
            "of the mover, mentioned");
  EXPECT_EQ(at(east_, "SELECT string_agg(rkey::text, ' ') FROM skua.tombstones"), "20");
  EXPECT_EQ(at(east_, "SELECT string_agg(rkey::text, ' ') FROM skua.replies_below"), "30");
  EXPECT_EQ(at(east_, "SELECT string_agg(did, ' ') FROM skua.repositories"), mover_);
  EXPECT_EQ(at(east_, "SELECT state || coalesce(lease_owner, '') FROM skua.backfill_jobs"),
            "queued");
  EXPECT_EQ(at(east_, "SELECT string_agg(key, ' ') FROM skua.dead_letter"), "a");

  EXPECT_EQ(at(west_,
               "SELECT string_agg(concat_ws(' ', rkey, rev, text, first_cid = "
               "sha256('liked by the stayer')), ', ' ORDER BY rkey) FROM bsky.posts"),
            "1 -1 t, 4 5 text of stays")
      << "the like of the stayer relies on the first CID";
  EXPECT_EQ(at(west_, "SELECT string_agg(rkey::text, ' ') FROM bsky.likes"), "10");
  EXPECT_EQ(at(west_, "SELECT count(*) FROM bsky.list_blocks"), "0");
  EXPECT_EQ(at(west_, "SELECT string_agg(rkey::text, ' ') FROM skua.tombstones"), "21");
  EXPECT_EQ(at(west_, "SELECT string_agg(rkey::text, ' ') FROM skua.replies_below"), "31");
  EXPECT_EQ(at(west_, "SELECT string_agg(did, ' ') FROM skua.repositories"), stayer_);
  EXPECT_EQ(at(west_, "SELECT count(*) FROM skua.backfill_jobs"), "0");
  EXPECT_EQ(at(west_, "SELECT string_agg(key, ' ') FROM skua.dead_letter"), "b");
  EXPECT_EQ(at(west_,
               "SELECT count(*) || concat_ws(' ', min(handle), bool_or(active), "
               "max(floor_rev)) FROM bsky.actors"),
            "30")
      << "the names of the accounts stay";
  EXPECT_EQ(value("SELECT string_agg(text, ', ' ORDER BY rkey) FROM bsky.posts"),
            "text of liked by the stayer, text of liked by nobody, text of liked by the mover, "
            "text of stays");

  // The stub at the first node is there when the post comes back.
  move("west");
  EXPECT_EQ(at(west_,
               "SELECT string_agg(concat_ws(' ', rkey, text, first_cid), ', ' ORDER BY "
               "rkey) FROM bsky.posts"),
            "1 text of liked by the stayer, 2 text of liked by nobody, 3 text of liked by the "
            "mover, 4 text of stays");
  EXPECT_EQ(at(east_, "SELECT count(*) FROM bsky.posts"), "0");
  EXPECT_EQ(at(west_, "SELECT handle FROM bsky.actors WHERE id = " + number(mover_)), "m.test");
}

TEST_F(GroupMoveTest, a_post_that_returns_keeps_the_first_cid_on_which_references_rely) {
  add_account(west_, mover_);
  add_account(west_, stayer_);
  add_post(mover_, 1, "first");
  add_post(mover_, 2, "removed");
  add_like(stayer_, 10, mover_, 1);
  add_like(stayer_, 11, mover_, 2);
  move("east");
  east_.run("UPDATE bsky.posts SET cid = sha256('second'), first_cid = NULL WHERE rkey = 1");
  east_.run("DELETE FROM bsky.posts WHERE rkey = 2");
  move("west");
  EXPECT_EQ(at(west_,
               "SELECT string_agg(concat_ws(' ', rkey, rev, cid = sha256('second'), "
               "first_cid = sha256('first'), first_cid = sha256('removed')), ', ' ORDER BY "
               "rkey) FROM bsky.posts"),
            "1 5 t t f, 2 -1 f t");
}

TEST_F(GroupMoveTest, the_new_node_continues_at_the_earlier_cursor) {
  west_.run(
      "INSERT INTO skua.cursors VALUES (70, 'epoch', now(), 'relay:a'), (5, NULL, now(), "
      "'relay:b'), (3, NULL, now(), 'labeler:x')");
  east_.run(
      "INSERT INTO skua.cursors VALUES (90, NULL, now(), 'relay:a'), (4, NULL, now(), "
      "'relay:b')");
  move("east");
  EXPECT_EQ(at(east_,
               "SELECT string_agg(concat_ws(' ', source, cursor), ', ' ORDER BY source) "
               "FROM skua.cursors"),
            "labeler:x 3, relay:a 70, relay:b 4");
  EXPECT_EQ(at(west_, "SELECT sum(cursor) FROM skua.cursors"), "78");
  for (auto* node : {&west_, &east_}) {
    EXPECT_EQ(at(*node, "SELECT groups_version FROM skua.database_token"), "1");
    // A process that knew the former groups moves no cursor.
    postgres::Transaction transaction(*node);
    EXPECT_THAT([&] { node->require_same_groups(); }, Throws<postgres::DatabaseChanged>());
  }
}

TEST_F(GroupMoveTest, each_group_keeps_the_cursor_of_its_former_node) {
  const auto set = [](postgres::Session& node, int a, int b) {
    node.run("INSERT INTO skua.cursors VALUES (" + std::to_string(a) +
             ", NULL, now(), 'relay:a'), (" + std::to_string(b) + ", NULL, now(), 'relay:b')");
  };
  const auto ahead = [](postgres::Session& node) {
    return at(
        node,
        "SELECT string_agg(concat_ws(' ', source, groups, cursor), ', ' ORDER BY source, cursor) "
        "FROM (SELECT source, cursor, min(account_group) || '-' || max(account_group) AS groups "
        "FROM skua.group_cursors GROUP BY 1, 2) AS g");
  };
  set(west_, 70, 9);
  set(east_, 90, 4);
  move("east");
  EXPECT_EQ(ahead(east_), "relay:a 32-63 90, relay:b 16-31 9")
      << "the own groups at the own cursor, the others at that of the other node";
  EXPECT_EQ(ahead(west_), "");
  // Before the node has come there, groups move on.
  move("west", "16-17");
  EXPECT_EQ(ahead(east_), "relay:a 32-63 90, relay:b 18-31 9");
  EXPECT_EQ(ahead(west_), "relay:b 0-17 9")
      << "the node continues at 4, and all its groups are at 9";
  move("west", "40");
  EXPECT_EQ(ahead(west_), "relay:a 40-40 90, relay:b 0-17 9");
  tables::save_cursor(west_, "relay:b", 9, {});
  tables::save_cursor(west_, "relay:a", 90, {});
  EXPECT_EQ(ahead(west_), "");
}

TEST_F(GroupMoveTest, sessions_that_write_end_and_others_stay) {
  for (auto* node : {&west_, &east_}) {
    node->run("INSERT INTO skua.cursors VALUES (1, NULL, now(), 'relay:a')");
  }
  postgres::Session writer(west_database_.url(), "skua run relay:a");
  postgres::Session reader(west_database_.url(), "skua query");
  move("east");
  EXPECT_THROW(writer.run("SELECT 1"), postgres::ServerError);
  EXPECT_NO_THROW(reader.run("SELECT 1"));
}

TEST_F(GroupMoveTest, a_question_that_reads_a_node_delays_the_move) {
  add_account(west_, mover_);
  add_post(mover_, 1, "moves");
  std::vector<std::string> waits;
  for (auto* database : {&west_database_, &east_database_}) {
    postgres::Session question(database->url(), "question of the query database");
    question.run("BEGIN; SELECT count(*) FROM " +
                 at(question,
                    "SELECT min(oid::regclass::text) FROM pg_class WHERE relkind = 'v' "
                    "AND relnamespace = 'node_ranges'::regnamespace AND relname ~ "
                    "'posts'"));
    const std::string to =
        at(west_, "SELECT cardinality(owned) FROM skua.account_groups") == "32" ? "east" : "west";
    move_groups(session(), GroupSet::parse("16-31").value(), to, [&](const std::string& line) {
      if (line.find("waits for the end of questions") == std::string::npos) return;
      waits.push_back(line);
      question.run("COMMIT");
    });
    for (auto* changed : {&west_database_, &east_database_}) {
      postgres::database_watch().forget(changed->url());
    }
  }
  EXPECT_THAT(waits, testing::ElementsAre(HasSubstr("the node west"), HasSubstr("the node east")));
  EXPECT_EQ(at(west_, "SELECT count(*) FROM bsky.posts"), "1");
}

TEST_F(GroupMoveTest, a_removal_that_ends_in_a_deadlock_is_repeated) {
  for (const std::string& did : {mover_, stayer_}) add_account(west_, did);
  add_like(mover_, 11, stayer_, 4);
  west_.run(
      "INSERT INTO bsky.list_blocks (actor_id, rkey, rev, indexed_at, cid, list_actor, list_rkey) "
      "VALUES (" +
      number(mover_) + ", 13, 5, 'epoch', sha256('block'), " + number(stayer_) + ", 8)");
  // The move removes likes first. It waits for the other row, and notices the deadlock after a
  // second.
  postgres::Session other(west_database_.url(), "test");
  other.run("SET deadlock_timeout = '60s'; BEGIN; SELECT FROM bsky.list_blocks FOR UPDATE");
  std::thread locks([&] {
    const std::string waits =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'skua nodes%' AND "
        "wait_event_type = 'Lock' AND datname = current_database()";
    while (at(west_, waits) == "0") std::this_thread::sleep_for(std::chrono::milliseconds(5));
    other.run("SELECT FROM bsky.likes FOR UPDATE");
    other.run("COMMIT");
  });
  move("east");
  locks.join();
  // A session reports it when it ends.
  const std::string deadlocks =
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
  for (int i = 0; i < 1000 && at(west_, deadlocks) == "0"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(at(west_, deadlocks), "1");
  EXPECT_EQ(at(west_,
               "SELECT (SELECT count(*) FROM bsky.likes) + (SELECT count(*) FROM "
               "bsky.list_blocks)"),
            "0");
}

TEST_F(GroupMoveTest, one_of_two_accounts_keeps_a_handle) {
  const std::string columns = ", handle, handle_claim, handle_time, handle_valid";
  add_account(west_, mover_, columns, ", 'a.test', 'a.test', '2026-01-02', NULL");
  add_account(east_, friend_, columns, ", 'a.test', 'a.test', '2026-01-01', true");
  move("east");
  EXPECT_EQ(at(east_, "SELECT string_agg(did, ' ') FROM bsky.actors WHERE handle = 'a.test'"),
            friend_)
      << "a look-up has confirmed it";
}

TEST_F(GroupMoveTest, sums_over_the_nodes_need_both_nodes_to_count_alike) {
  const auto is_complete = [&](const std::string& projection) {
    return value("SELECT skua.each_node_has('" + projection + "')");
  };
  for (auto* node : {&west_, &east_}) build(*node, "{}");
  EXPECT_EQ(is_complete("post_stats"), "t");
  EXPECT_EQ(is_complete("tag_trends"), "t");
  move("east");
  EXPECT_EQ(is_complete("post_stats"), "t") << "the records still count on the first node";
  EXPECT_EQ(is_complete("tag_trends"), "f");
  build(west_, "{1}");
  EXPECT_EQ(is_complete("post_stats"), "f");
  EXPECT_EQ(value("SELECT string_agg(node, ' ') FROM skua.projections_of_nodes('post_stats') "
                  "WHERE lag IS NULL"),
            "east west");
  build(east_, "{1}");
  EXPECT_EQ(is_complete("post_stats"), "t");
  EXPECT_EQ(is_complete("tag_trends"), "t");
  east_.run("UPDATE skua.consumer_lanes SET built_during_move = true");
  EXPECT_EQ(is_complete("post_stats"), "f");
}

/// A node loses what a move has written to it, as by a failover to a standby that is late.
class LostStepTest : public GroupMoveTest {
 protected:
  /// Begins the move, and interrupts it when it says a line with this text.
  void interrupt_at(const std::string& text) {
    EXPECT_THROW(move_groups(session(), GroupSet::parse("16-31").value(), "east",
                             [&](const std::string& line) {
                               if (line.find(text) != std::string::npos) {
                                 throw std::runtime_error("interrupted");
                               }
                             }),
                 std::runtime_error);
    for (auto* database : {&west_database_, &east_database_}) {
      postgres::database_watch().forget(database->url());
    }
  }
  void lose(postgres::Session& node, const std::string& owned) {
    node.run("DELETE FROM skua.group_moves");
    node.run("UPDATE skua.account_groups SET owned = ARRAY(SELECT generate_series(" + owned + "))");
  }
  /// Continues the move until it removes rows of the first node, which fails.
  void fail_to_remove() {
    west_.run(
        "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE "
        "'refused'; END $$; "
        "CREATE TRIGGER refuse BEFORE DELETE ON bsky.posts EXECUTE FUNCTION public.refuse()");
    EXPECT_THAT([&] { move("east"); },
                testing::ThrowsMessage<postgres::SqlError>(HasSubstr("refused")));
    for (auto* database : {&west_database_, &east_database_}) {
      postgres::database_watch().forget(database->url());
    }
    west_.run("DROP FUNCTION public.refuse CASCADE");
  }
  void expect_moved() {
    EXPECT_EQ(at(west_, "SELECT array_to_string(owned, ',') FROM skua.account_groups"),
              GroupSet::parse("0-15").value().list());
    EXPECT_EQ(at(east_, "SELECT array_to_string(owned, ',') FROM skua.account_groups"),
              GroupSet::parse("16-63").value().list());
    EXPECT_EQ(at(east_, "SELECT string_agg(text, ', ' ORDER BY rkey) FROM bsky.posts"),
              "text of first, text of later");
    EXPECT_EQ(at(west_, "SELECT count(*) FROM bsky.posts"), "0");
  }
};

TEST_F(LostStepTest, the_first_node_loses_that_it_gave_the_groups_away) {
  add_account(west_, mover_);
  add_post(mover_, 1, "first");
  interrupt_at("owns the groups");
  // The arrival comes back to the state of before, too: its line came before the step ended.
  lose(west_, "0, 31");
  lose(east_, "32, 63");
  add_post(mover_, 2, "later");
  move("east");
  EXPECT_THAT(lines_.front(), HasSubstr("the node west has lost the beginning of the move"));
  expect_moved();
}

TEST_F(LostStepTest, tombstones_stay_while_groups_arrive) {
  add_account(west_, mover_);
  west_.run(
      "INSERT INTO skua.tombstones (rkey, rev, seq, actor_id, collection_id, source) VALUES "
      "(20, 1, 50, " +
      number(mover_) + ", 1, 'relay:a')");
  interrupt_at("copied 17 of 17");
  tables::save_cursor(east_, "relay:a", 100, {});
  EXPECT_EQ(at(east_, "SELECT count(*) FROM skua.tombstones"), "1")
      << "the node will read again from the cursor of the other one";
  move("east");
  tables::save_cursor(east_, "relay:a", 100, {});
  EXPECT_EQ(at(east_, "SELECT count(*) FROM skua.tombstones"), "0");
}

TEST_F(LostStepTest, the_other_node_loses_the_arrival) {
  add_account(west_, mover_);
  add_post(mover_, 1, "first");
  add_post(mover_, 2, "later");
  fail_to_remove();
  lose(east_, "32, 63");
  lines_.clear();
  move("east");
  EXPECT_THAT(lines_.front(), HasSubstr("the node east has lost the arrival of the groups"));
  expect_moved();
}

TEST_F(LostStepTest, the_other_node_loses_the_arrival_after_rows_were_removed) {
  add_account(west_, mover_);
  add_post(mover_, 1, "first");
  add_post(mover_, 2, "later");
  interrupt_at("removed 1 of");
  // The removal is resumed, and interrupted before its next part.
  fail_to_remove();
  east_.run("CREATE TABLE public.newer_backup AS SELECT * FROM skua.group_moves");
  lose(east_, "32, 63");
  EXPECT_THAT([&] { move("east"); },
              testing::ThrowsMessage<postgres::NodeError>(HasSubstr("restore a newer backup")));
  east_.run("INSERT INTO skua.group_moves SELECT * FROM public.newer_backup");
  east_.run("UPDATE skua.account_groups SET owned = ARRAY(SELECT generate_series(16, 63))");
  lines_.clear();
  move("east");
  EXPECT_THAT(lines_, testing::Contains(HasSubstr("removed 2 of")));
  EXPECT_THAT(lines_, testing::Not(testing::Contains(HasSubstr("removed 1 of"))))
      << "a part that is removed is not removed again";
  expect_moved();
}

TEST_F(LostStepTest, the_first_node_owns_groups_again_that_have_arrived) {
  add_account(west_, mover_);
  add_post(mover_, 1, "first");
  add_post(mover_, 2, "later");
  interrupt_at("removed 1 of");
  lose(west_, "0, 31");
  move("east");
  expect_moved();
}

/// Databases of nodes from before moves that have ended, as after a restore.
class RepeatedMoveTest : public LostStepTest {
 protected:
  std::vector<std::string> repeated() {
    std::vector<std::string> lines;
    repeat_lost_moves(session(), [&](const std::string& line) { lines.push_back(line); });
    for (auto* database : {&west_database_, &east_database_}) {
      postgres::database_watch().forget(database->url());
    }
    return lines;
  }
};

TEST_F(RepeatedMoveTest, a_backup_gives_the_groups_away_again) {
  for (const std::string& did : {mover_, stayer_}) add_account(west_, did);
  add_post(mover_, 1, "first");
  add_post(stayer_, 2, "stays");
  for (auto* node : {&west_, &east_}) build(*node, "{}");
  move("east");
  EXPECT_EQ(to_build(west_) + ", " + to_build(east_), "tag_trends, tag_trends");
  EXPECT_THAT(repeated(), testing::IsEmpty());
  for (auto* node : {&west_, &east_}) build(*node, "{}");
  // The row of the backup is older than that of the other node.
  lose(west_, "0, 31");
  add_post(mover_, 1, "older");
  EXPECT_THAT(tables::check_nodes(session())[1].problem, HasSubstr("`skua nodes sync` repeats"));
  EXPECT_TRUE(tables::set_node_url(session(), "west", west_database_.url()));
  EXPECT_THAT(
      repeated().front(),
      HasSubstr("the database of the node west is from before the move of the groups 16-31"));
  EXPECT_EQ(at(west_, "SELECT array_to_string(owned, ',') FROM skua.account_groups"),
            GroupSet::parse("0-15").value().list());
  EXPECT_EQ(at(west_, "SELECT string_agg(text, ', ') FROM bsky.posts"), "text of stays");
  EXPECT_EQ(at(east_, "SELECT string_agg(text, ', ') FROM bsky.posts"), "text of first");
  EXPECT_EQ(value("SELECT string_agg(text, ', ' ORDER BY rkey) FROM bsky.posts"),
            "text of first, text of stays");
  // The sums of the backup lack what it has lost.
  EXPECT_EQ(to_build(west_) + ", " + to_build(east_),
            "post_stats tag_trends, post_stats tag_trends");
  EXPECT_EQ(value("SELECT skua.each_node_has('post_stats')"), "f");
  tables::require_present_groups(west_, tables::load_account_groups(west_).owned);
  EXPECT_THAT(repeated(), testing::IsEmpty());
}

TEST_F(RepeatedMoveTest, an_interruption_continues) {
  add_account(west_, mover_);
  move("east");
  lose(west_, "0, 31");
  add_post(mover_, 1, "older");
  EXPECT_THROW(repeat_lost_moves(session(),
                                 [&](const std::string& line) {
                                   if (line.find("removed 1 of") != std::string::npos) {
                                     throw std::runtime_error("interrupted");
                                   }
                                 }),
               std::runtime_error);
  EXPECT_THAT(repeated(),
              testing::ElementsAre(HasSubstr("`skua nodes move 16-31 --to east` ends that")));
  move("east");
  EXPECT_EQ(at(west_, "SELECT count(*) FROM bsky.posts"), "0");
  EXPECT_THAT(repeated(), testing::IsEmpty());
}

TEST_F(RepeatedMoveTest, groups_that_came_back_stay) {
  add_account(west_, mover_);
  move("east");
  move("west");
  lose(west_, "0, 31");
  add_post(mover_, 1, "older");
  for (auto* node : {&west_, &east_}) build(*node, "{}");
  EXPECT_THAT(repeated(),
              testing::UnorderedElementsAre("the node west builds its projections again",
                                            "the node east builds its projections again"));
  EXPECT_EQ(to_build(west_) + ", " + to_build(east_),
            "post_stats tag_trends, post_stats tag_trends");
  EXPECT_EQ(value("SELECT skua.each_node_has('post_stats')"), "f");
  EXPECT_THAT(repeated(), testing::IsEmpty());
  EXPECT_EQ(at(west_, "SELECT count(*) FROM bsky.posts"), "1");
  EXPECT_EQ(at(west_,
               "SELECT string_agg(concat_ws(' ', number, phase, from_node), ', ' ORDER BY "
               "number) FROM skua.group_moves"),
            "1 done west, 2 done east")
      << "sums that count them are compared";
  // If only some came back, the part of the node cannot be repeated.
  move("east");
  move("west", "16-20");
  lose(west_, "0, 31");
  EXPECT_THAT([&] { repeated(); }, testing::ThrowsMessage<postgres::NodeError>(
                                       HasSubstr("of which some have come back")));
}

TEST_F(GroupMoveTest, says_why_a_move_is_not_possible) {
  const auto refused = [&](const std::string& groups, const std::string& to,
                           const std::string& reason) {
    EXPECT_THAT([&] { move(to, groups); },
                testing::ThrowsMessage<postgres::NodeError>(HasSubstr(reason)));
  };
  refused("30-33", "east", "state groups of one node");
  EXPECT_NO_THROW(move("east", "32"));
  EXPECT_THAT(lines_.back(), HasSubstr("nothing changed: the node east owns the groups 32"));
  {
    const postgres::Session run(east_database_.url(), "skua run relay:a");
    refused("5", "east", "the node east has not saved its first cursor yet");
  }
  west_.run(
      "INSERT INTO skua.backfill_hosts (next_attempt, updated_at, host, what, state) VALUES "
      "(now(), now(), 'https://a.test', 'repos', 'listing')");
  refused("5", "east", "reads lists of accounts");
  west_.run("DELETE FROM skua.backfill_hosts");
  west_.run("INSERT INTO skua.dropped_indexes (name, relation, definition) VALUES ('a', 'b', 'c')");
  refused("5", "east", "has an open bootstrap");
  EXPECT_EQ(value("SELECT count(*) FROM skua.group_moves"), "0");
}

}  // namespace
}  // namespace skua::moves::group_move_test
