#include "tables/change_log.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/account_group.hpp"
#include "atproto/computed_number.hpp"
#include "base/account_number.hpp"
#include "support/postgres.hpp"
#include "tables/account_groups.hpp"

namespace skua::tables::change_log_test {
namespace {

class ChangeLogTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  static ChangeBlock block_of(std::size_t changes, AccountNumber actor_id = 7) {
    ChangeBlock block;
    for (std::size_t i = 0; i < changes; ++i) {
      block.changes.push_back({.actor_id = actor_id,
                               .collection_id = 2,
                               .rkey = static_cast<std::int64_t>(i),
                               .rev = 5,
                               .cid = atproto::Digest{1, 2, 3}});
      block.references.push_back({.change = i, .delta = 1, .target = {9, 1, 4}});
    }
    return block;
  }
  static std::int64_t append(postgres::Session& session, const ChangeBlock& block) {
    postgres::Transaction transaction(session);
    EXPECT_TRUE(is_logging_changes(session));
    const std::int64_t position = append_changes(session, block);
    transaction.commit();
    return position;
  }
};

TEST_F(ChangeLogTest, positions_begin_at_one_and_have_no_gaps) {
  EXPECT_EQ(append(session(), block_of(3)), 1);
  EXPECT_EQ(append(session(), block_of(1)), 4);
  {
    postgres::Transaction transaction(session());
    EXPECT_EQ(append_changes(session(), block_of(10)), 5);
  }
  EXPECT_EQ(append(session(), block_of(2)), 5) << "the block before was rolled back";
  EXPECT_EQ(value("SELECT string_agg(pos::text, ' ' ORDER BY pos) FROM skua.changes(1)"),
            "1 2 3 4 5 6");
}

TEST_F(ChangeLogTest, a_change_comes_back_as_it_was_appended) {
  ChangeBlock block = block_of(1);
  block.changes.push_back({.kind = ChangeKind::Label,
                           .operation = ChangeOperation::Delete,
                           .actor_id = 8,
                           .val = "spam"});
  block.changes.push_back(
      {.kind = ChangeKind::Account, .operation = ChangeOperation::Update, .actor_id = 3});
  block.references.push_back(
      {.change = 1, .role = ReferenceRole::Label, .delta = -1, .target = {6, 0, 0}});
  append(session(), block);
  EXPECT_EQ(value("SELECT string_agg(concat_ws(',', pos, kind, op, actor_id, collection_id, rkey, "
                  "rev, left(encode(cid, 'hex'), 6), val), ' ' ORDER BY pos) FROM skua.changes(1)"),
            "1,record,create,7,2,0,5,010203 2,label,delete,8,0,0,0,spam 3,account,update,3,0,0,0");
  EXPECT_EQ(value("SELECT string_agg(concat_ws(',', pos, role, delta, actor_id, collection_id, "
                  "rkey), ' ' ORDER BY pos) FROM skua.change_references(1)"),
            "1,like,1,9,1,4 2,label,-1,6,0,0");
}

TEST_F(ChangeLogTest, reading_begins_inside_a_block) {
  append(session(), block_of(5));
  append(session(), block_of(5));
  const auto positions = [&](int from) {
    return value("SELECT string_agg(pos::text, ' ' ORDER BY pos) FROM skua.changes(" +
                 std::to_string(from) + ")");
  };
  EXPECT_EQ(positions(4), "4 5 6 7 8 9 10");
  EXPECT_EQ(positions(6), "6 7 8 9 10");
  EXPECT_EQ(positions(11), "");
  EXPECT_EQ(value("SELECT count(*) FROM skua.change_references(4)"), "7");
}

/// What a role that may only read can hold: every advisory lock of the space that the log used, and
/// each table as strongly as it may.
TEST_F(ChangeLogTest, a_reader_cannot_stop_writers_with_locks) {
  postgres::Session reader(database_.url(), "reader");
  reader.run("SET ROLE skua_reader");
  reader.run("SELECT pg_advisory_lock(1936422146, n) FROM generate_series(3, 6) AS n");
  reader.run("BEGIN");
  std::size_t locked = 0;
  for (const std::string table :
       {"skua.dropped_indexes", "skua.change_log_state", "skua.change_log", "skua.consumers"}) {
    for (const std::string mode : {"ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE",
                                   "SHARE UPDATE EXCLUSIVE", "ACCESS EXCLUSIVE"}) {
      reader.run("SAVEPOINT before");
      try {
        reader.run("LOCK TABLE " + table + " IN " + mode + " MODE NOWAIT");
        ++locked;
        EXPECT_EQ(mode, "ACCESS SHARE") << table;
      } catch (const postgres::SqlError&) {
        reader.run("ROLLBACK TO before");
      }
    }
  }
  EXPECT_EQ(locked, 4U);
  session().limit_lock_waits(std::chrono::milliseconds(200));
  EXPECT_EQ(append(session(), block_of(3)), 1);
  session().run("SELECT skua.make_change_log_partition(2)");
  postgres::Transaction transaction(session());
  lock_change_log_mode(session());
  transaction.commit();
}

TEST_F(ChangeLogTest, a_reader_cannot_take_the_locks_by_the_functions) {
  postgres::Session reader(database_.url(), "reader");
  reader.run("SET ROLE skua_reader");
  for (const std::string call : {"is_logging_changes()", "lock_change_log_mode()",
                                 "make_change_log_partition(9)", "end_bootstrap()"}) {
    EXPECT_THROW(reader.run("SELECT skua." + call), postgres::SqlError) << call;
  }
}

TEST_F(ChangeLogTest, a_bootstrap_waits_for_transactions_that_append) {
  postgres::Session other(database_.url(), "other");
  other.limit_lock_waits(std::chrono::milliseconds(50));
  {
    postgres::Transaction transaction(session());
    EXPECT_TRUE(is_logging_changes(session()));
    postgres::Transaction waits(other);
    EXPECT_THROW(lock_change_log_mode(other), postgres::ServerError);
  }
  postgres::Transaction transaction(session());
  lock_change_log_mode(session());
  postgres::Transaction waits(other);
  EXPECT_THROW(is_logging_changes(other), postgres::ServerError);
}

/// The order of positions is the order of commits, and what is rolled back leaves no gap.
TEST_F(ChangeLogTest, sixteen_writers_with_random_rollbacks_leave_no_gap) {
  constexpr int kWriters = 16;
  constexpr int kTransactions = 40;
  std::atomic<std::int64_t> committed = 0;
  const std::string url = database_.url();
  {
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < kWriters; ++writer) {
      threads.emplace_back([&, writer] {
        postgres::Session own(url, "writer");
        std::mt19937 random(static_cast<unsigned>(writer));
        for (int i = 0; i < kTransactions; ++i) {
          postgres::Transaction transaction(own);
          ASSERT_TRUE(is_logging_changes(own));
          const std::size_t changes = 1 + random() % 20;
          append_changes(own, block_of(changes, writer));
          if (random() % 4 == 0) continue;
          transaction.commit();
          committed += static_cast<std::int64_t>(changes);
        }
      });
    }
    // A reader sees a prefix of the log at any moment.
    postgres::Session reader(url, "reader");
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(reader
                    .run("SELECT coalesce(sum(n), 0) = coalesce(max(pos + n), 1) - 1 "
                         "FROM skua.change_log")
                    .text(0, 0),
                "t");
    }
  }
  EXPECT_EQ(value("SELECT sum(n) FROM skua.change_log"), std::to_string(committed));
  EXPECT_EQ(value("SELECT max(pos + n) - min(pos) FROM skua.change_log"),
            std::to_string(committed));
}

TEST_F(ChangeLogTest, a_missing_partition_is_created_when_the_log_reaches_it) {
  const std::int64_t width = std::int64_t{1} << 24;
  session().run(
      "SELECT skua.append_changes('{1}', '{1}', '{1}', '{1}', '{1}', '{1}', '{NULL}', "
      "NULL, '{}', '{}', '{}', '{}', '{}', '{}')");
  // The block before the end of the second partition, the last one of the migration.
  session().run("UPDATE skua.change_log SET pos = " + std::to_string(2 * width - 3) +
                "; UPDATE skua.change_log_state SET partition = 1");
  EXPECT_EQ(append(session(), block_of(5)), 2 * width - 2);
  EXPECT_EQ(append(session(), block_of(1)), 2 * width + 3) << "in the next partition";
  EXPECT_EQ(value("SELECT string_agg(tableoid::regclass::text, ' ' ORDER BY pos) "
                  "FROM skua.change_log"),
            "skua.change_log_1 skua.change_log_1 skua.change_log_2");
  EXPECT_EQ(value("SELECT partition FROM skua.change_log_state"), "2");
  EXPECT_EQ(value("SELECT count(*) FROM skua.changes(" + std::to_string(2 * width - 2) + ")"), "6");
}

TEST_F(ChangeLogTest, nothing_is_logged_during_a_bootstrap_and_its_end_is_one_change) {
  session().run(
      "INSERT INTO skua.dropped_indexes (name, relation, definition) "
      "VALUES ('a', 'b', 'c')");
  {
    postgres::Transaction transaction(session());
    EXPECT_FALSE(is_logging_changes(session()));
    transaction.commit();
  }
  {
    postgres::Transaction transaction(session());
    lock_change_log_mode(session());
    EXPECT_FALSE(end_bootstrap_in_log(session())) << "an index is missing";
    session().run("DELETE FROM skua.dropped_indexes");
    EXPECT_TRUE(end_bootstrap_in_log(session()));
    transaction.commit();
  }
  EXPECT_EQ(value("SELECT string_agg(kind, ' ') FROM skua.changes(1)"), "bootstrap");
  EXPECT_EQ(append(session(), block_of(1)), 2);
}

TEST_F(ChangeLogTest, the_end_of_a_bootstrap_waits_for_transactions_that_skip_the_log) {
  session().run(
      "INSERT INTO skua.dropped_indexes (name, relation, definition) "
      "VALUES ('a', 'b', 'c')");
  postgres::Session writer(database_.url(), "writer");
  std::jthread end;
  std::atomic<bool> ended = false;
  {
    postgres::Transaction transaction(writer);
    EXPECT_FALSE(is_logging_changes(writer));
    end = std::jthread([&] {
      postgres::Session own(database_.url(), "end");
      postgres::Transaction last(own);
      lock_change_log_mode(own);
      ended = true;
      own.run("DELETE FROM skua.dropped_indexes");
      end_bootstrap_in_log(own);
      last.commit();
    });
    while (!test::a_session_waits_for_a_lock(session())) std::this_thread::yield();
    EXPECT_FALSE(ended);
    transaction.commit();
  }
  end.join();
  EXPECT_EQ(value("SELECT string_agg(kind, ' ') FROM skua.changes(1)"), "bootstrap");
}

TEST_F(ChangeLogTest, another_database_begins_a_timeline) {
  EXPECT_EQ(check_change_log_timeline(session()), 1);
  EXPECT_EQ(check_change_log_timeline(session()), 1);
  // As after the restore of a dump, or a fail-over.
  session().run("UPDATE skua.change_log_state SET database = 'another/00000001/16384'");
  EXPECT_EQ(check_change_log_timeline(session()), 2);
  EXPECT_EQ(check_change_log_timeline(session()), 2);
}

TEST_F(ChangeLogTest, a_node_whose_timeline_begins_asks_the_others_for_references) {
  make_node(session(), atproto::GroupSet::parse("0-31").value(), atproto::NumberKey{1});
  session().run(
      "INSERT INTO skua.nodes VALUES ('own', '', ARRAY(SELECT generate_series(0, 31))), "
      "('a', '', '{40,41}'), ('b', '', '{50}'), ('empty', '', '{}')");
  for (int i = 0; i < 2; ++i) {
    session().run("UPDATE skua.change_log_state SET database = 'another/00000001/16384'");
    check_change_log_timeline(session());
    check_change_log_timeline(session());
    EXPECT_EQ(value("SELECT string_agg(account_group || ':' || text, ' ' ORDER BY account_group) "
                    "FROM skua.waiting_references WHERE actor_id IS NULL"),
              "40: 50:");
    session().run("DELETE FROM skua.waiting_references");
  }
}

}  // namespace
}  // namespace skua::tables::change_log_test
