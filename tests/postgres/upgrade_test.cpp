#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/migrations.hpp"
#include "support/postgres.hpp"
#include "support/schema_text.hpp"

namespace skua::postgres::upgrade_test {
namespace {

/// Makes the baseline a database of migration 62 again. Views and functions are not those of that
/// time, except some.
const std::string kUndo = R"(
DROP SCHEMA projections CASCADE;
ALTER SEQUENCE bsky.actors_id_seq NO MAXVALUE;
DROP TABLE skua.account_groups, skua.number_key, skua.nodes, skua.waiting_references, skua.group_moves, skua.group_cursors,
  skua.network_tables, skua.replies_below, skua.mentioned_accounts;
ALTER TABLE skua.database_token DROP COLUMN groups_version;
DELETE FROM skua.reader_tables WHERE name IN ('account_groups', 'group_moves', 'group_cursors');
DROP INDEX bsky.posts_out_of_order, bsky.reposts_out_of_order, bsky.actors_inactive;
DROP TABLE skua.trusted_accounts CASCADE;
ALTER TABLE bsky.records DROP COLUMN block CASCADE;
ALTER TABLE skua.retention DROP COLUMN set_at;
ALTER TABLE bsky.posts DROP COLUMN first_cid CASCADE;
UPDATE skua.record_fields SET value = regexp_replace(value, 'coalesce\(t\.(parent|root)_cid, \(SELECT coalesce\([^)]*\)[^)]*\)\)', 't.\1_cid', 'g')
WHERE table_name = 'posts' AND column_name = 'parent';
DELETE FROM skua.reader_tables WHERE name = 'trusted_accounts';
ALTER TABLE skua.consumers DROP CONSTRAINT consumers_definition, DROP COLUMN definition, DROP COLUMN of_network;
DROP TABLE skua.projections;
DELETE FROM skua.reader_tables WHERE name = 'projections';
DROP TABLE skua.schema_files, skua.message_inbox, skua.messages, skua.message_limits;
DROP SEQUENCE skua.message_moved;
DROP INDEX skua.dead_letter_of_consumers;
ALTER TABLE skua.consumer_lanes DROP COLUMN waiting_pos, DROP COLUMN is_paced, DROP COLUMN failing_since,
  DROP COLUMN failures, DROP COLUMN cause, DROP COLUMN leased_at, DROP COLUMN lease_expiries,
  DROP COLUMN counted_moves, DROP COLUMN built_during_move, ADD COLUMN has_more boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN skua.consumer_lanes.error IS 'The last failure of the change at pos.';
COMMENT ON COLUMN skua.consumers.error IS 'The error that stopped the consumer, or the error of its last build.';
COMMENT ON COLUMN skua.consumers.retry_at IS 'The time of the next attempt to build the tables, after a failure.';
COMMENT ON COLUMN skua.consumers.url IS 'Of a webhook: the address that receives the changes.';
ALTER TABLE skua.consumer_secrets DROP COLUMN url;
COMMENT ON TABLE skua.consumer_secrets IS 'The secrets of webhooks.';
COMMENT ON COLUMN bsky.labels.subject_actor IS 'The labelled account.';
COMMENT ON COLUMN bsky.rkeys.text IS 'The text of the record key.';
DELETE FROM skua.record_fields WHERE (table_name, column_name) = ('posts', 'langs');
DROP FUNCTION bsky.labels_of(text), skua.restrict_advisory_locks(), skua.tuning_overrides(jsonb);
CREATE OR REPLACE FUNCTION skua.is_logging_changes() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1936422146, 3);
  RETURN NOT EXISTS (SELECT FROM skua.dropped_indexes);
END
$$;
DELETE FROM skua.reader_tables WHERE name = 'schema_files';
DO $$
DECLARE
  place record;
BEGIN
  FOR place IN
    SELECT c.oid::regclass AS view FROM pg_class AS c
    WHERE c.relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) AND c.relkind = 'v'
      AND c.relname NOT IN ('post_stats', 'actor_stats', 'notifications', 'post_rules', 'tag_trends')
  LOOP
    EXECUTE 'DROP VIEW IF EXISTS ' || place.view || ' CASCADE';
  END LOOP;
  DROP FUNCTION bsky.record_json(bsky.likes), bsky.record_json(bsky.reposts);
  FOR place IN
    SELECT a.attrelid::regclass AS relation, a.attname AS name, replace(a.atttypid::regtype::text, 'bigint', 'int4') AS type
    FROM pg_attribute AS a JOIN pg_class AS r ON r.oid = a.attrelid
    WHERE r.relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) AND r.relkind IN ('r', 'p') AND NOT r.relispartition
      AND (a.attname ~ '^(actor_id|account|recipient|mentions|leased_key|\w+_actor)$'
        OR (a.attrelid, a.attname) = ('bsky.actors'::regclass, 'id'))
  LOOP
    EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s', place.relation, place.name, place.type);
  END LOOP;
END
$$;
ALTER TABLE bsky.posts ALTER COLUMN langs TYPE text[] USING string_to_array(langs, ' ');
COMMENT ON COLUMN bsky.posts.langs IS 'The languages that the author states, as language tags.';
CREATE VIEW bsky.posts_view AS SELECT actor_id, rkey, ''::text AS uri, ''::text AS name FROM bsky.posts;
CREATE FUNCTION bsky.uri(actor_id int4, collection_id int4, rkey int8) RETURNS text LANGUAGE sql AS $$ SELECT 'former' $$;
CREATE FUNCTION bsky.post(address text) RETURNS SETOF bsky.posts_view LANGUAGE sql AS $$ SELECT * FROM bsky.posts_view $$;
DELETE FROM skua.migrations;
INSERT INTO skua.migrations (version, name, checksum) SELECT n, 'former', 'sum' || n FROM generate_series(1, 62) AS n)";

const std::string kFill = R"(
INSERT INTO skua.consumers (version, lanes, name, kind, role, state, policy, profile, url, error) VALUES
  (1, 1, 'post_stats', 'projection', 'live', 'running', 'pause', 'default', NULL, NULL),
  (1, 2, 'hook', 'webhook', 'live', 'stopped', 'block_key', 'relaxed', 'https://hook.test/secret?key=1', 'HTTP 500');
INSERT INTO skua.consumer_lanes (pos, consumer_id, lane, has_more, attempts, error) VALUES
  (5, 1, 0, true, 0, NULL), (6, 2, 0, false, 3, 'HTTP 500'), (7, 2, 1, false, 0, NULL);
INSERT INTO skua.consumer_secrets (consumer_id, secret) VALUES (2, 'key of the hook');
INSERT INTO bsky.actors (did, indexed_at) VALUES ('did:plc:a', '2026-01-02 03:04:05Z');
INSERT INTO bsky.labels (subject_rkey, seq, cts, indexed_at, actor_id, subject_actor, subject_collection, neg, val)
  VALUES (7, 1, now(), now(), 1, 1, 1, false, 'spam');
INSERT INTO bsky.likes (rkey, rev, indexed_at, actor_id, subject_actor, subject_collection, subject_rkey, via_actor, cid)
  VALUES (2, 3, now(), 1, 4, 5, 6, 7, 'cid');
INSERT INTO bsky.posts (rkey, rev, indexed_at, actor_id, langs) VALUES
  (1, 3, now(), 1, '{en}'), (2, 3, now(), 1, '{en,ja}'), (3, 3, now(), 1, '{}'), (4, 3, now(), 1, NULL);
INSERT INTO skua.filter (kind, value) VALUES ('collection', 'app.bsky.feed.*');
CREATE TABLE skua.post_stats_1 (rkey int8, actor_id int4, likes int4, reposts int4, replies int4, quotes int4);
INSERT INTO skua.post_stats_1 VALUES (6, 4, 1, 0, 0, 0);
DROP VIEW bsky.post_stats;
CREATE VIEW bsky.post_stats AS SELECT actor_id, rkey, likes, reposts, replies, quotes FROM skua.post_stats_1)";

class UpgradeTest : public test::PostgresTest {
 protected:
  void SetUp() override {
    SKUA_NEED_POSTGRES();
    before_ = value(test::kSchemaText);
    session().run(kUndo);
    std::string checksums;
    for (int version = 1; version <= 62; ++version) checksums += fmt::format("sum{}", version);
    schema_.former = {{62, SchemaFile{.name = {}, .sql = checksums}.checksum()}};
  }

  Schema schema_ = schema();
  std::string before_;
};

TEST_F(UpgradeTest, a_database_of_migration_62_gets_the_schema_of_a_new_one) {
  ASSERT_NE(value(test::kSchemaText), before_);
  const SchemaChanges applied = migrate(session(), schema_);
  EXPECT_EQ(applied.migrations.front().label(), "0063_delivery_failures");
  EXPECT_EQ(applied.migrations.back().label(), schema_.migrations.back().label());
  const std::string after = value(test::kSchemaText);
  EXPECT_TRUE(after == before_) << test::first_difference(before_, after);
  EXPECT_TRUE(pending_changes(session(), schema_).empty());
  EXPECT_EQ(value("SELECT numbers_have_group FROM skua.account_groups"), "t");
}

TEST_F(UpgradeTest, rows_of_changed_tables_and_shown_projections_survive) {
  session().run(kFill);
  migrate(session(), schema_);
  EXPECT_EQ(value("SELECT string_agg(concat_ws(' ', pos, consumer_id, lane, attempts, error, "
                  "failures, is_paced), ', ' ORDER BY pos) FROM skua.consumer_lanes"),
            "5 1 0 0 0 f, 6 2 0 3 HTTP 500 0 f, 7 2 1 0 0 f");
  EXPECT_EQ(value("SELECT concat_ws(' ', c.url, s.url, s.secret) FROM skua.consumers AS c "
                  "JOIN skua.consumer_secrets AS s ON s.consumer_id = c.id"),
            "https://hook.test https://hook.test/secret?key=1 key of the hook");
  EXPECT_EQ(value("SELECT name || ' ' || val FROM bsky.labels_view"), "did:plc:a spam");
  EXPECT_EQ(value("SELECT collections::text FROM skua.filter_state"), "{app.bsky.feed.*}");
  EXPECT_EQ(value("SELECT concat_ws(' ', rkey, rev, actor_id, subject_actor, subject_collection, "
                  "subject_rkey, via_actor, pg_typeof(via_actor), convert_from(cid, 'UTF8')) FROM "
                  "bsky.likes"),
            "2 3 1 4 5 6 7 bigint cid");
  EXPECT_EQ(
      value("SELECT string_agg(coalesce('(' || langs || ')', 'null'), ' ' ORDER BY rkey) FROM "
            "bsky.posts"),
      "(en) (en ja) () null");
  EXPECT_EQ(value("SELECT concat_ws(' ', actor_id, pg_typeof(actor_id), rkey, likes) FROM "
                  "bsky.post_stats"),
            "4 bigint 6 1");
  EXPECT_EQ(value("SELECT skua.is_logging_changes()::text"), "true");
  // Accounts have plain numbers, and so will new ones.
  EXPECT_EQ(value("SELECT numbers_have_group FROM skua.account_groups"), "f");
  EXPECT_EQ(value("SELECT skua.new_account_number('did:plc:b')"), "2");
}

TEST_F(UpgradeTest, a_view_of_a_user_is_named_and_nothing_changes) {
  session().run("CREATE VIEW public.mine AS SELECT uri, name FROM bsky.posts_view");
  const std::string former = value(test::kSchemaText);
  try {
    migrate(session(), schema_);
    ADD_FAILURE() << "the view of a user was dropped";
  } catch (const SqlError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("view mine depends on view bsky.posts_view"));
  }
  EXPECT_EQ(value(test::kSchemaText), former);
  session().run("DROP VIEW public.mine");
  migrate(session(), schema_);
  EXPECT_EQ(value(test::kSchemaText), before_);
}

}  // namespace
}  // namespace skua::postgres::upgrade_test
