#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/cursor_store.hpp"
#include "store/migrations.hpp"
#include "support/postgres.hpp"

namespace skua::store::upgrade_test {
namespace {

/// Two rows for each table of schema 36 that the statements below do not fill. The values of a row
/// differ from column to column.
const std::string kFillOthers = R"(
DO $$
DECLARE
  fill text;
BEGIN
  FOR fill IN
    SELECT format('INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM generate_series(1, 2) AS n', c.oid::regclass,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum),
      string_agg(format(CASE format_type(a.atttypid, NULL)
          WHEN 'bigint' THEN '-(n * 10000000000 + %1$s)'
          WHEN 'integer' THEN 'n * 10000 + %1$s'
          WHEN 'boolean' THEN '(n + %1$s) %% 2 = 0'
          WHEN 'text' THEN '''%2$s '' || n'
          WHEN 'text[]' THEN 'ARRAY[''%2$s'', n::text]'
          WHEN 'jsonb' THEN 'jsonb_build_object(''%2$s'', n)'
          WHEN 'bytea' THEN 'sha256(''%2$s'') || int4send(n)'
          WHEN 'timestamp with time zone' THEN 'timestamptz ''2026-01-02 03:04:05.678901Z'' + interval ''1 day'' * n + interval ''1 hour'' * %1$s'
        END, a.attnum, a.attname), ', ' ORDER BY a.attnum))
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND c.relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) AND NOT c.oid = ANY (
      '{skua.migrations,skua.cursors,skua.repositories,skua.backfill_jobs,skua.backfill_hosts,skua.dead_letter,skua.filter,
        skua.filter_state,skua.filter_changes,skua.lock_secret,skua.database_token}'::regclass[])
    GROUP BY c.oid
  LOOP
    EXECUTE fill;
  END LOOP;
END
$$)";

/// Tables with conditions, or with a row from their migration.
const std::string kFill = R"(
INSERT INTO skua.cursors (source, cursor, event_time, saved_at) VALUES
  ('relay:a.test', 1463, '2026-01-02 03:04:05Z', '2026-01-02 03:04:06Z'), ('labeler:b.test', 7, NULL, now());
INSERT INTO skua.repositories (did, state, rev, data, breaks, broke_at, next_attempt, attempts, error, active, anchor, reason)
  VALUES ('did:plc:a', 'partial', 11, '\x01', 0, NULL, NULL, 0, NULL, true, 5, NULL),
  ('did:plc:b', 'complete', 12, '\x02', 1, now(), NULL, 0, NULL, false, NULL, NULL),
  ('did:plc:c', 'desynchronized', 13, '\x03', 2, now(), now(), 3, 'no answer', true, 6, 'audit');
INSERT INTO skua.backfill_jobs (did, state, host, file, lease, holder, claim, attempts, lost, retries, error, since, rev,
  records, bytes, created_at, next_attempt, finished_at) VALUES
  ('did:plc:a', 'queued', 'https://a.test', NULL, NULL, NULL, 2, 1, 0, 0, 'the host answered 503', 4, NULL, NULL, NULL, now(), now() + interval '1 hour', now()),
  ('did:plc:b', 'running', 'https://a.test', NULL, now() + interval '1 minute', 'skua backfill pid 1', 3, 0, 1, 0, NULL, NULL, NULL, NULL, NULL, now(), now(), NULL),
  ('did:plc:c', 'done', 'https://b.test', NULL, NULL, NULL, 1, 0, 0, 0, NULL, NULL, 13, 100, 20000, now(), now(), now()),
  ('did:plc:d', 'unavailable', NULL, NULL, NULL, NULL, 1, 1, 0, 2, 'RepoDeactivated', NULL, NULL, NULL, NULL, now(), now() + interval '1 day', now()),
  ('did:plc:e', 'failed', NULL, '/tmp/e.car', NULL, NULL, 1, 1, 0, 0, 'not a CAR', NULL, NULL, NULL, NULL, now(), now(), now()),
  ('did:plc:f', 'cancelled', 'https://b.test', NULL, NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, now(), now(), NULL);
INSERT INTO skua.backfill_hosts (host, what, state, cursor, listed, announced, holder, by_hand, attempts, error, begun_at, next_attempt, updated_at)
  VALUES ('https://a.test', 'repos', 'listing', 'page 2', 1000, 1500, 'skua run pid 1', true, 0, NULL, now(), now(), now()),
  ('https://b.test', 'repos', 'listed', NULL, 5, NULL, NULL, false, 0, NULL, now(), now(), now()),
  ('https://c.test', 'repos', 'failed', NULL, 0, NULL, NULL, false, 15, 'no answer', now(), now(), now()),
  ('https://d.test', 'collection:app.bsky.feed.post', 'cancelled', NULL, 0, NULL, NULL, true, 0, NULL, now(), now(), now()),
  ('https://e.test', 'audit:hosts', 'none', NULL, 0, NULL, NULL, false, 0, NULL, now(), now(), now());
INSERT INTO skua.dead_letter (consumer, key, did, payload, error, sqlstate, attempts, status) VALUES
  ('indexer', 'relay:a.test 5 at://did:plc:a/app.bsky.feed.post/3k2', 'did:plc:a', '\xa0', 'bad', '23514', 2, 'dead'),
  ('indexer', 'relay:a.test 6 did:plc:a/frame', '', '\x00', 'bad', NULL, 1, 'resolved');
INSERT INTO skua.filter (kind, value) VALUES ('collection', 'app.bsky.feed.*'), ('did', 'did:plc:a'))";

/// A copy of each table, for the comparison after the migrations.
const std::string kCopy = R"(
CREATE SCHEMA before;
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN SELECT c.oid::regclass AS name, c.relname FROM pg_class AS c
    WHERE c.relkind = 'r' AND c.relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace)
  LOOP
    EXECUTE format('CREATE TABLE before.%I AS TABLE %s', t.relname, t.name);
  END LOOP;
END
$$)";

/// The names of today.
const std::string kRename = R"(
ALTER TABLE before.backfill_jobs RENAME holder TO lease_owner;
ALTER TABLE before.backfill_jobs RENAME lease TO lease_until;
ALTER TABLE before.backfill_jobs RENAME claim TO lease_number;
ALTER TABLE before.backfill_hosts RENAME holder TO lease_owner;
ALTER TABLE before.backfill_hosts RENAME by_hand TO is_operator_specified;
ALTER TABLE before.figures RENAME figures TO metrics;
ALTER TABLE before.figures RENAME TO metrics)";

/// The version of Skua before the change log had the schema of migration 36.
constexpr int kBefore = 36;

class UpgradeTest : public testing::Test {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    const std::vector<Migration>& known = migrations();
    const auto next = std::find_if(known.begin(), known.end(), [](const Migration& migration) {
      return migration.version > kBefore;
    });
    migrate(session(), std::span(known.begin(), next));
  }

  Session& session() {
    if (!session_) session_.emplace(database_.url(), "test");
    return *session_;
  }

  std::string value(const std::string& sql) {
    const Rows rows = session().run(sql);
    return rows.empty() || rows.is_null(0, 0) ? "" : std::string(rows.text(0, 0));
  }

  std::vector<std::string> list(const std::string& sql) {
    const Rows rows = session().run(sql);
    std::vector<std::string> found;
    for (std::size_t row = 0; row < rows.size(); ++row) found.emplace_back(rows.text(row, 0));
    return found;
  }

  /// The number of rows in one table and not in the other, by the columns of the copy.
  std::string differences(const std::string& table) {
    const std::string columns = value(
        "SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = "
        "'before." +
        table + "'::regclass AND attnum > 0");
    const std::string now =
        value("SELECT oid::regclass::text FROM pg_class WHERE relname = '" + table +
              "' AND relkind = 'r' AND relnamespace IN "
              "('bsky'::regnamespace, 'skua'::regnamespace)");
    if (now.empty()) return "the table is missing";
    const std::string before_rows = "SELECT " + columns + " FROM before." + table;
    const std::string now_rows = "SELECT " + columns + " FROM " + now;
    const auto missing = [&](const std::string& from, const std::string& in) {
      return value("SELECT count(*)::text FROM (" + from + " EXCEPT ALL " + in + ") AS rows");
    };
    return missing(before_rows, now_rows) + " lost, " + missing(now_rows, before_rows) + " new";
  }

 private:
  test::Database database_{test::Database::Content::empty};
  std::optional<Session> session_;
};

TEST_F(UpgradeTest, rows_of_every_table_survive_all_later_migrations) {
  session().run(kFillOthers);
  session().run(kFill);
  session().run(kCopy);
  const auto tables = list(
      "SELECT relname::text FROM pg_class WHERE relnamespace = 'before'::regnamespace "
      "AND relkind = 'r' ORDER BY 1");
  EXPECT_GT(tables.size(), 35U);
  for (const std::string& table : tables) {
    EXPECT_NE(value("SELECT count(*)::text FROM before." + table), "0") << table;
  }
  migrate(session(), migrations());
  session().run(kRename);
  for (std::string table : tables) {
    if (table == "figures") table = "metrics";
    // The index of the new columns of posts waits for the end of the bootstrap. A collection has a
    // table now.
    const std::string added = table == "migrations" ? std::to_string(migrations().size() - kBefore)
                              : table == "dropped_indexes" || table == "collections" ? "1"
                                                                                     : "0";
    EXPECT_EQ(differences(table), "0 lost, " + added + " new") << table;
  }
  EXPECT_EQ(load_cursor(session(), "relay:a.test"), 1463);
  EXPECT_EQ(value("SELECT string_agg(state, ' ' ORDER BY did) FROM skua.backfill_jobs"),
            "queued running done unavailable failed cancelled");
  EXPECT_EQ(value("SELECT skua.change_log_end()::text"), "1");
}

TEST_F(UpgradeTest, an_open_bootstrap_builds_the_indexes_of_the_new_schema) {
  session().run(
      "INSERT INTO skua.dropped_indexes (name, relation, definition, dropped_at) "
      "SELECT 'bsky.likes_subject', 'bsky.likes', pg_get_indexdef('bsky.likes_subject'::regclass), "
      "now(); DROP INDEX bsky.likes_subject");
  migrate(session(), migrations());
  EXPECT_EQ(value("SELECT to_regclass('bsky.likes_subject')::text"), "");
  session().run(value("SELECT definition FROM skua.dropped_indexes"));
  EXPECT_EQ(value("SELECT pg_get_indexdef('bsky.likes_subject'::regclass)"),
            "CREATE INDEX likes_subject ON bsky.likes USING btree "
            "(subject_actor, subject_rkey, actor_id)");
}

}  // namespace
}  // namespace skua::store::upgrade_test
