#include "tables/cursor_store.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/postgres.hpp"

namespace skua::tables::cursor_store_test {
namespace {

class CursorStoreTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  const Timestamp time_{std::chrono::microseconds(1'767'323'045'678'901)};
};

TEST_F(CursorStoreTest, a_source_without_a_cursor_has_none) {
  EXPECT_EQ(load_cursor(session(), "relay:a.test"), std::nullopt);
}

TEST_F(CursorStoreTest, each_source_has_its_own_last_cursor) {
  save_cursor(session(), "relay:a.test", 10, time_);
  save_cursor(session(), "relay:b.test", 5, Timestamp{});
  save_cursor(session(), "relay:a.test", 12, time_);
  EXPECT_EQ(load_cursor(session(), "relay:a.test"), 12);
  EXPECT_EQ(load_cursor(session(), "relay:b.test"), 5);
  EXPECT_EQ(value("SELECT event_time FROM skua.cursors WHERE source = 'relay:a.test'"),
            "2026-01-02 03:04:05.678901+00");
  EXPECT_EQ(value("SELECT event_time FROM skua.cursors WHERE source = 'relay:b.test'"), "");
}

TEST_F(CursorStoreTest, groups_that_are_ahead_of_it) {
  save_cursor(session(), "relay:a.test", 10, time_);
  save_cursor(session(), "relay:b.test", 10, time_);
  EXPECT_EQ(load_group_cursors(session(), "relay:a.test"), std::nullopt);
  session().run(
      "INSERT INTO skua.group_cursors (source, account_group, cursor) VALUES "
      "('relay:a.test', 0, 12), ('relay:a.test', 63, 14), ('relay:b.test', 1, 20)");
  const auto loaded = load_group_cursors(session(), "relay:a.test").value();
  EXPECT_EQ(loaded.front(), 12);
  EXPECT_EQ(loaded.at(1), 0);
  EXPECT_EQ(loaded.back(), 14);
  const auto all = [this] {
    return value("SELECT string_agg(cursor::text, ' ' ORDER BY cursor) FROM skua.group_cursors");
  };
  save_cursor(session(), "relay:a.test", 12, time_);
  EXPECT_EQ(all(), "14 20");
  save_cursor(session(), "relay:a.test", 11, time_);
  EXPECT_EQ(all(), "20") << "a cursor that goes back reads everything again";
  session().run("DELETE FROM skua.cursors WHERE source = 'relay:b.test'");
  EXPECT_EQ(all(), "");
}

TEST_F(CursorStoreTest, tombstones_that_it_passed_go) {
  session().run(
      "INSERT INTO skua.tombstones (actor_id, collection_id, rkey, rev, seq, source) VALUES "
      "(1, 1, 1, 1, 10, 'relay:a.test'), (1, 1, 2, 1, 11, 'relay:a.test'), "
      "(1, 1, 3, 1, 12, 'relay:a.test'), (1, 1, 4, 1, 1, 'relay:b.test')");
  save_cursor(session(), "relay:a.test", 11, time_);
  EXPECT_EQ(value("SELECT string_agg(rkey::text, ',' ORDER BY rkey) FROM skua.tombstones"), "3,4");
}

/// Whether the tombstones of an account stay behind while it has a job.
struct Kept {
  const char* name;
  const char* state;
  const char* lease;  // from now on; null: none
  bool stays;
};

class TombstonesOfAJob : public CursorStoreTest, public testing::WithParamInterface<Kept> {};

TEST_P(TombstonesOfAJob, stay_while_it_runs) {
  session().run(
      "INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE VALUES "
      "(7, 'did:plc:filled', now()), (8, 'did:plc:other', now()); "
      "INSERT INTO skua.tombstones (actor_id, collection_id, rkey, rev, seq, source) VALUES "
      "(7, 1, 1, 1, 10, 'relay:a.test'), (8, 1, 2, 1, 10, 'relay:a.test'), "
      "(9, 1, 3, 1, 10, 'relay:a.test')");
  const std::string lease = GetParam().lease == nullptr
                                ? "NULL, NULL"
                                : std::string("now() + interval '") + GetParam().lease + "', 'me'";
  session().run(
      "INSERT INTO skua.backfill_jobs (did, created_at, next_attempt, state, lease_until, "
      "lease_owner) "
      "VALUES "
      "('did:plc:filled', now(), now(), '" +
      std::string(GetParam().state) + "', " + lease +
      "), ('did:plc:unheard', now(), now(), 'running', now() + interval '1 hour', 'me')");
  save_cursor(session(), "relay:a.test", 11, time_);
  EXPECT_EQ(value("SELECT string_agg(rkey::text, ',' ORDER BY rkey) FROM skua.tombstones"),
            GetParam().stays ? "1" : "");
  session().run(
      "UPDATE skua.backfill_jobs SET state = 'done', lease_until = NULL, lease_owner = NULL");
  save_cursor(session(), "relay:a.test", 11, time_);
  EXPECT_EQ(value("SELECT count(*) FROM skua.tombstones"), "0");
}

INSTANTIATE_TEST_SUITE_P(Table, TombstonesOfAJob,
                         testing::Values(Kept{"running", "running", "2 minutes", true},
                                         Kept{"overdue", "running", "-59 minutes", true},
                                         Kept{"abandoned", "running", "-61 minutes", false},
                                         Kept{"queued", "queued", nullptr, false},
                                         Kept{"done", "done", nullptr, false},
                                         Kept{"failed", "failed", nullptr, false}),
                         [](const auto& test) { return test.param.name; });

TEST_F(CursorStoreTest, metrics_are_replaced) {
  save_metrics(session(), "relay:a.test", R"({"rows":1})");
  save_metrics(session(), "relay:a.test", R"({"rows":2})");
  EXPECT_EQ(value("SELECT metrics FROM skua.metrics"), R"({"rows": 2})");
}

}  // namespace
}  // namespace skua::tables::cursor_store_test
