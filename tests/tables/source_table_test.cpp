#include "tables/source_table.hpp"

#include <string>

#include <gtest/gtest.h>

#include "postgres/locks.hpp"
#include "support/postgres.hpp"
#include "tables/cursor_store.hpp"

namespace skua::tables::source_table_test {
namespace {

class SourceTableTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    session().run(
        "INSERT INTO skua.cursors (source, cursor, event_time, saved_at) VALUES "
        "('relay:a.test', 12, now() - interval '90 s', '2026-01-02 03:04:05+00'), "
        "('relay:b.test', 5, NULL, '2026-01-02 03:04:05+00'); "
        "INSERT INTO bsky.actors (id, did, indexed_at) OVERRIDING SYSTEM VALUE VALUES "
        "(7, 'did:plc:filled', now()); "
        "INSERT INTO skua.backfill_jobs (did, state, lease_until, lease_owner, created_at, "
        "next_attempt) "
        "VALUES ('did:plc:filled', 'running', now() + interval '1 h', 'lease_owner', now(), "
        "now()); "
        "INSERT INTO skua.tombstones (actor_id, collection_id, rkey, rev, seq, source) VALUES "
        "(1, 1, 1, 1, 10, 'relay:a.test'), (1, 1, 2, 1, 13, 'relay:a.test'), "
        "(7, 1, 3, 1, 14, 'relay:a.test'), (1, 1, 4, 1, 4, 'relay:b.test')");
    save_metrics(session(), "relay:a.test", R"({"frames": 3})");
    save_metrics(session(), "tap:c.test", R"({"frames": 4})");
    save_metrics(session(), "backfill", "{}");
  }

  std::string tombstones() {
    return value("SELECT string_agg(rkey::text, ',' ORDER BY rkey) FROM skua.tombstones");
  }
};

TEST_F(SourceTableTest, lists_sources_with_what_is_known_of_each) {
  const auto sources = read_sources(session());
  ASSERT_EQ(sources.size(), 3U) << "what a backfill tells is no source";
  EXPECT_EQ(sources[0].name, "relay:a.test");
  EXPECT_EQ(sources[0].cursor, 12);
  EXPECT_EQ(format_datetime(sources[0].saved_at.value()), "2026-01-02T03:04:05.000000Z");
  EXPECT_NEAR(sources[0].cursor_age_seconds.value(), 90, 60);
  EXPECT_EQ(sources[0].metrics, R"({"frames": 3})");
  EXPECT_EQ(sources[1].name, "relay:b.test");
  EXPECT_EQ(sources[1].event_time, std::nullopt);
  EXPECT_EQ(sources[1].cursor_age_seconds, std::nullopt);
  EXPECT_EQ(sources[1].metrics, std::nullopt);
  EXPECT_EQ(sources[2].name, "tap:c.test");
  EXPECT_EQ(sources[2].cursor, std::nullopt);
  EXPECT_EQ(sources[2].saved_at, std::nullopt);
}

TEST_F(SourceTableTest, forgets_what_belongs_to_one_source_alone) {
  const auto forgotten = forget_source(session(), "relay:a.test");
  EXPECT_TRUE(forgotten.is_known);
  EXPECT_EQ(forgotten.cursor, 12);
  EXPECT_EQ(forgotten.tombstones, 2U);
  EXPECT_EQ(forgotten.tombstones_kept, 1U) << "a backfill of the account runs";
  EXPECT_EQ(tombstones(), "3,4");
  EXPECT_EQ(load_cursor(session(), "relay:a.test"), std::nullopt);
  EXPECT_EQ(load_cursor(session(), "relay:b.test"), 5);
  EXPECT_EQ(read_sources(session()).size(), 2U);

  session().run(
      "UPDATE skua.backfill_jobs SET state = 'done', lease_until = NULL, lease_owner = NULL");
  const auto rest = forget_source(session(), "relay:a.test");
  EXPECT_TRUE(rest.is_known);
  EXPECT_EQ(rest.tombstones, 1U);
  EXPECT_FALSE(forget_source(session(), "relay:a.test").is_known);
}

TEST_F(SourceTableTest, forgets_a_source_that_has_metrics_only) {
  EXPECT_TRUE(forget_source(session(), "tap:c.test").is_known);
  EXPECT_EQ(read_sources(session()).size(), 2U);
}

TEST_F(SourceTableTest, refuses_to_forget_a_source_that_is_read) {
  postgres::Session reader(database_.url(), "skua run pid 7 at here");
  const postgres::SourceLock lock(reader, "relay:a.test");
  EXPECT_THROW(forget_source(session(), "relay:a.test"), postgres::SourceBusy);
  EXPECT_EQ(load_cursor(session(), "relay:a.test"), 12);
  EXPECT_TRUE(forget_source(session(), "relay:b.test").is_known);
}

}  // namespace
}  // namespace skua::tables::source_table_test
