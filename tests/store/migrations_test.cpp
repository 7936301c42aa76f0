#include "store/migrations.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"
#include "support/shared_data.hpp"

namespace skua::store::migrations_test {
namespace {

using testing::HasSubstr;

const std::vector<Migration> kTwo = {
    {1, "machinery",
     "CREATE SCHEMA skua; CREATE TABLE skua.migrations (version int4 PRIMARY KEY, "
     "name text, checksum text, applied_at timestamptz DEFAULT now())"},
    {2, "more", "CREATE TABLE skua.more (id int4); INSERT INTO skua.more VALUES (1)"},
};

class MigrationsTest : public testing::Test {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::string failure(Session& session, const std::vector<Migration>& known) {
    try {
      migrate(session, known);
    } catch (const MigrationError& error) {
      return error.what();
    }
    return "no error";
  }

  test::Database database_{test::Database::Content::empty};
};

TEST(EmbeddedMigrationsTest, are_the_files_of_the_schema_folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("schema")) {
    files.insert(entry.path().stem().string());
  }
  std::set<std::string> embedded;
  int expected_version = 1;
  for (const Migration& migration : migrations()) {
    EXPECT_EQ(migration.version, expected_version++);
    embedded.insert(migration.label());
    const auto file = test::read_file("schema/" + migration.label() + ".sql");
    EXPECT_EQ(migration.sql, as_text(file)) << migration.label();
  }
  EXPECT_EQ(embedded, files);
}

TEST_F(MigrationsTest, a_fresh_database_gets_all_and_a_second_time_none) {
  Session session(database_.url(), "test");
  EXPECT_EQ(pending_migrations(session, migrations()).size(), migrations().size());
  EXPECT_EQ(migrate(session, migrations()).size(), migrations().size());
  EXPECT_TRUE(pending_migrations(session, migrations()).empty());
  EXPECT_TRUE(migrate(session, migrations()).empty());
  EXPECT_EQ(session.run("SELECT count(*) FROM skua.migrations").int8(0, 0),
            static_cast<std::int64_t>(migrations().size()));
}

TEST_F(MigrationsTest, only_what_is_new_is_applied) {
  Session session(database_.url(), "test");
  migrate(session, std::span(kTwo).first(1));
  const auto applied = migrate(session, kTwo);
  ASSERT_EQ(applied.size(), 1U);
  EXPECT_EQ(applied[0].label(), "0002_more");
}

TEST_F(MigrationsTest, a_changed_one_is_refused) {
  Session session(database_.url(), "test");
  migrate(session, kTwo);
  std::vector<Migration> changed = kTwo;
  changed[1].sql = "CREATE TABLE skua.more (id int8)";
  EXPECT_THAT(failure(session, changed), HasSubstr("0002_more was changed"));
}

TEST_F(MigrationsTest, a_newer_database_is_refused) {
  Session session(database_.url(), "test");
  migrate(session, kTwo);
  EXPECT_THAT(failure(session, {kTwo[0]}), HasSubstr("0002_more"));
  EXPECT_THAT(failure(session, {kTwo[0]}), HasSubstr("use the newer skua"));
}

TEST_F(MigrationsTest, one_that_is_missing_below_the_newest_is_refused) {
  Session session(database_.url(), "test");
  migrate(session, kTwo);
  std::vector<Migration> more = kTwo;
  more[1].version = 3;
  session.run("UPDATE skua.migrations SET version = 3 WHERE version = 2");
  more.insert(more.begin() + 1, {2, "between", "SELECT 1"});
  EXPECT_THAT(failure(session, more), HasSubstr("never 0002_between"));
}

TEST_F(MigrationsTest, one_that_fails_leaves_nothing_and_keeps_those_before) {
  Session session(database_.url(), "test");
  std::vector<Migration> broken = kTwo;
  broken.push_back({3, "broken", "CREATE TABLE skua.half (id int4); SELECT 1/0"});
  EXPECT_THROW(migrate(session, broken), DataError);
  EXPECT_TRUE(session.run("SELECT to_regclass('skua.half')").is_null(0, 0));
  EXPECT_EQ(session.run("SELECT max(version) FROM skua.migrations").int4(0, 0), 2);
  EXPECT_TRUE(migrate(session, kTwo).empty());
}

TEST_F(MigrationsTest, letters_of_an_older_schema_keep_what_their_key_tells) {
  Session session(database_.url(), "test");
  const std::vector<Migration>& known = migrations();
  const auto letters = std::find_if(known.begin(), known.end(), [](const Migration& migration) {
    return migration.name == "dead_letters";
  });
  ASSERT_NE(letters, known.end());
  migrate(session, std::span(known.begin(), letters));
  session.run(
      "INSERT INTO skua.dead_letter (consumer, key, did, payload, error) VALUES "
      "('indexer', 'relay:a.test 5 at://did:plc:a/app.bsky.feed.post/3k2', 'did:plc:a', 'xy', 'e'),"
      "('indexer', 'tap:b 0 did:web:h%3A1/com.example.note/a:b~c sha256:" +
      std::string(64, 'f') +
      "', '', NULL, 'e'), "
      "('indexer', 'relay:a.test 6 did:plc:a/frame', '', 'x', "
      "'bad (the payload had 2000000 bytes; the first 1048576 are kept)'), "
      "('indexer', 'labeler:c 7 did:plc:c/labels/3', '', 'x', 'e'), "
      "('indexer', 'relay:a.test 8 did:plc:a/not a path', 'did:plc:a', 'x', 'e'), "
      "('indexer', rpad('relay:a.test 9 at://did:web:' || repeat('d', 900) || "
      "'/app.bsky.feed.post/', 1000, 'k'), '', 'x', 'e'); "
      "UPDATE skua.dead_letter SET status = 'ignored' WHERE key LIKE '%frame'; "
      "UPDATE skua.dead_letter SET status = 'resolved' WHERE key LIKE '%labels/3'");
  migrate(session, known);
  const Rows rows = session.run(
      "SELECT concat_ws('|', coalesce(source, '-'), coalesce(did, '-'), coalesce(path, '-'), "
      "coalesce(operation, '-'), coalesce(payload_bytes::text, '-'), status, finished_at IS NULL) "
      "FROM skua.dead_letter ORDER BY id");
  std::vector<std::string> found;
  for (std::size_t row = 0; row < rows.size(); ++row) found.emplace_back(rows.text(row, 0));
  EXPECT_THAT(found, testing::ElementsAre(
                         "relay:a.test|did:plc:a|app.bsky.feed.post/3k2|-|2|dead|t",
                         "tap:b||com.example.note/a:b~c|-|-|dead|t",
                         "relay:a.test||-|frame|2000000|dead|t", "labeler:c||-|label|1|resolved|f",
                         "relay:a.test|did:plc:a|-|-|1|dead|t", "relay:a.test||-|-|1|dead|t"));
}

TEST_F(MigrationsTest, records_of_a_collection_that_gets_a_table_move) {
  Session session(database_.url(), "test");
  const std::vector<Migration>& known = migrations();
  const auto table = std::find_if(known.begin(), known.end(), [](const Migration& migration) {
    return migration.name == "visibility_declarations";
  });
  ASSERT_NE(table, known.end());
  migrate(session, std::span(known.begin(), table));
  session.run(
      "INSERT INTO bsky.collections (id, nsid) VALUES (1000, "
      "'app.bsky.actor.contentVisibilityDeclaration'), (1001, 'com.example.note'); "
      "INSERT INTO bsky.actors (did, indexed_at) SELECT 'did:plc:a' || n, now() FROM "
      "generate_series(1, 4) AS n; "
      "INSERT INTO bsky.records (actor_id, collection_id, rkey, rev, indexed_at, cid, record) "
      "SELECT a.id, 1000, -244041388656280411, 7, now(), '\\x01', r.record::jsonb FROM (VALUES "
      "('did:plc:a1', '{\"hideFromAlgorithmicRecommendations\": true, \"more\": 1}'), "
      "('did:plc:a2', '{\"hideFromAlgorithmicRecommendations\": \"yes\"}'), "
      "('did:plc:a3', '{}')) AS r(did, record) JOIN bsky.actors AS a USING (did); "
      "INSERT INTO bsky.records (actor_id, collection_id, rkey, rev, indexed_at, cid, record) "
      "VALUES (4, 1001, 5, 7, now(), '\\x01', '{}'); "
      "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
      "subject_collection, subject_rkey) VALUES (1, 9, 7, now(), '\\x01', 2, 1000, 3); "
      "SELECT skua.append_changes('{1,1}', '{1,1}', '{1,4}', '{1000,1001}', '{5,5}', '{7,7}', "
      "'{NULL,NULL}', NULL, '{}', '{}', '{}', '{}', '{}', '{}')");
  migrate(session, known);
  const auto text = [&](const std::string& sql) {
    return std::string(session.run(sql).text(0, 0));
  };
  EXPECT_EQ(text("SELECT string_agg(concat_ws('|', a.did, t.hide_from_algorithmic_recommendations, "
                 "t.extra), "
                 "', ') FROM bsky.visibility_declarations AS t JOIN bsky.actors AS a ON a.id = "
                 "t.actor_id"),
            "did:plc:a1|t|{\"more\": 1}");
  EXPECT_EQ(text("SELECT string_agg(concat_ws('|', collection_id, invalid_reason), ', ' ORDER BY "
                 "actor_id) FROM bsky.records"),
            "20|hideFromAlgorithmicRecommendations: must be a boolean, "
            "20|hideFromAlgorithmicRecommendations: missing, 1001");
  EXPECT_EQ(text("SELECT subject_collection::text FROM bsky.likes"), "20");
  EXPECT_EQ(text("SELECT collection_id::text FROM skua.change_log"), "{20,1001}");
}

TEST_F(MigrationsTest, two_at_once_apply_each_once) {
  const std::string url = database_.url();
  std::vector<std::size_t> applied(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      Session session(url, "test");
      applied[i] = migrate(session, kTwo).size();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(applied[0] + applied[1], 2U);
}

class SchemaTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::string list(const std::string& sql) {
    return value("SELECT string_agg(x, ', ' ORDER BY x) FROM (" + sql + ") AS s(x)");
  }
};

TEST_F(SchemaTest, every_relation_column_and_function_has_a_comment) {
  EXPECT_EQ(list("SELECT nspname FROM pg_namespace WHERE nspname IN ('bsky', 'skua') "
                 "AND obj_description(oid, 'pg_namespace') IS NULL"),
            "");
  EXPECT_EQ(
      list("SELECT c.oid::regclass::text FROM pg_class c WHERE relkind IN ('r', 'p', 'v', 'm') "
           "AND relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) "
           "AND obj_description(c.oid, 'pg_class') IS NULL"),
      "");
  EXPECT_EQ(list("SELECT c.oid::regclass::text || '.' || attname FROM pg_class c "
                 "JOIN pg_attribute a ON a.attrelid = c.oid AND attnum > 0 AND NOT attisdropped "
                 "WHERE relkind IN ('r', 'p', 'v', 'm') "
                 "AND relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) "
                 "AND col_description(c.oid, attnum) IS NULL"),
            "");
  EXPECT_EQ(list("SELECT p.oid::regprocedure::text FROM pg_proc p "
                 "WHERE pronamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) "
                 "AND obj_description(p.oid, 'pg_proc') IS NULL"),
            "");
  EXPECT_GT(std::stoi(value("SELECT count(*) FROM pg_description d JOIN pg_class c ON c.oid = "
                            "d.objoid WHERE c.relnamespace = 'bsky'::regnamespace")),
            300);
}

TEST_F(SchemaTest, no_comment_is_a_clause_without_its_subject) {
  EXPECT_EQ(list("SELECT description FROM pg_description "
                 "WHERE objoid >= 16384 AND description ~ "
                 "'^(Who|Whose|What|When|Whether|Why|How|Where)\\M'"),
            "");
}

TEST_F(SchemaTest, views_show_the_key_of_each_uri) {
  // <x>_actor and <x>_rkey for each <x>_uri, and <x>_collection where the table has it.
  const std::string keys =
      "FROM pg_class v JOIN pg_attribute u ON u.attrelid = v.oid AND u.attname LIKE '%\\_uri' "
      "CROSS JOIN (VALUES ('_actor', true), ('_rkey', true), ('_collection', false)) k(part, "
      "always) "
      "CROSS JOIN LATERAL (SELECT regexp_replace(u.attname, '_uri$', k.part) AS name) c "
      "WHERE v.relkind = 'v' AND v.relnamespace = 'bsky'::regnamespace AND (k.always OR EXISTS ("
      "SELECT FROM pg_attribute t WHERE t.attname = c.name AND t.attrelid = to_regclass("
      "'bsky.' || regexp_replace(v.relname, '_view$', '')))) ";
  EXPECT_GE(std::stoi(value("SELECT count(*) " + keys)), 36);
  EXPECT_EQ(list("SELECT v.relname || '.' || c.name " + keys +
                 "AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = v.oid "
                 "AND a.attname = c.name)"),
            "");
}

TEST_F(SchemaTest, record_tables_can_be_distributed) {
  EXPECT_EQ(list("SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' "
                 "AND connamespace IN ('bsky'::regnamespace, 'skua'::regnamespace)"),
            "");
  // The filter is no record, and small: what follows from changing it belongs to the change.
  EXPECT_EQ(list("SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgrelid <> ALL ("
                 "'{skua.filter,skua.filter_changes,skua.excluded_accounts,skua.retention,skua."
                 "lexicons}'::"
                 "regclass[])"),
            "");
  // The primary key begins with actor_id, and nothing else is unique.
  EXPECT_EQ(list("SELECT i.indexrelid::regclass::text FROM pg_index i "
                 "JOIN pg_class c ON c.oid = i.indrelid "
                 "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] "
                 "WHERE c.relnamespace = 'bsky'::regnamespace AND i.indisunique "
                 "AND c.relname NOT IN ('actors', 'collections') AND a.attname <> 'actor_id'"),
            "");
}

TEST_F(SchemaTest, columns_stand_widest_first) {
  // In each table: no column is aligned wider than the one before it.
  EXPECT_EQ(list("SELECT DISTINCT tbl FROM (SELECT c.oid::regclass::text AS tbl, "
                 "CASE WHEN t.typlen < 0 THEN 0 ELSE t.typlen END AS width, "
                 "lag(CASE WHEN t.typlen < 0 THEN 0 ELSE t.typlen END) "
                 "OVER (PARTITION BY c.oid ORDER BY attnum) AS before "
                 "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND attnum > 0 "
                 "JOIN pg_type t ON t.oid = a.atttypid "
                 // What a later migration adds stands behind, and takes no space while it is null.
                 "WHERE relkind = 'r' AND relnamespace = 'bsky'::regnamespace "
                 "AND attname NOT IN ('handle_check_due', 'handle_valid', "
                 "'handle_lookups_charged_to', 'images_without_alt', 'has_video')) s "
                 "WHERE width > before"),
            "");
}

TEST_F(SchemaTest, the_reader_reads_and_writes_nothing) {
  EXPECT_EQ(list("SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'v') "
                 "AND relnamespace = 'bsky'::regnamespace "
                 "AND NOT has_table_privilege('skua_reader', oid, 'SELECT')"),
            "");
  EXPECT_EQ(list("SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'v') "
                 "AND relnamespace IN ('bsky'::regnamespace, 'skua'::regnamespace) "
                 "AND has_table_privilege('skua_reader', oid, 'INSERT, UPDATE, DELETE, TRUNCATE')"),
            "");
  session().run("CREATE TABLE bsky.later (id int4); SET ROLE skua_reader");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.later"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM bsky.all_records"), "0");
  EXPECT_EQ(value("SELECT count(*) FROM skua.cursors"), "0");
  EXPECT_EQ(value("SELECT bsky.tid_text(0)"), "2222222222222");
  EXPECT_EQ(value("SELECT count(error) FROM skua.dead_letter WHERE last_at IS NULL"), "0");
  EXPECT_EQ(value("SELECT count(error) FROM skua.dead_letter_errors WHERE last_at IS NULL"), "0");
  for (const char* column : {"payload", "did", "path", "key", "status", "note", "lease_owner"}) {
    EXPECT_THROW(session().run(std::string("SELECT ") + column + " FROM skua.dead_letter"),
                 DefectError);
  }
}

TEST_F(SchemaTest, the_writer_writes_rows_and_changes_no_rights) {
  const std::string kTables =
      "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN "
      "('bsky'::regnamespace, 'skua'::regnamespace) AND ";
  for (const char* right : {"SELECT", "INSERT", "UPDATE", "DELETE"}) {
    const std::string lacks =
        "NOT has_table_privilege('skua_writer', oid, '" + std::string(right) + "')";
    EXPECT_EQ(list(kTables + lacks),
              right == std::string("SELECT") ? "" : "migrations, reader_tables")
        << right;
  }
  EXPECT_EQ(
      list(kTables + "has_table_privilege('skua_writer', oid, 'TRUNCATE, TRIGGER, REFERENCES')"),
      "");
  EXPECT_EQ(
      list("SELECT proname::text FROM pg_proc WHERE pronamespace IN ('bsky'::regnamespace, "
           "'skua'::regnamespace) AND NOT has_function_privilege('skua_writer', oid, 'EXECUTE') "
           "ORDER BY 1"),
      "grant_reader, grant_writer, make_lexicon_view");
  // Only these run with the rights of the owner.
  EXPECT_EQ(
      list("SELECT proname::text FROM pg_proc WHERE pronamespace IN ('bsky'::regnamespace, "
           "'skua'::regnamespace) AND prosecdef AND NOT EXISTS (SELECT FROM unnest(proconfig) "
           "AS c WHERE c LIKE 'search_path=pg_catalog%')"),
      "");
  session().run(
      "CREATE TABLE skua.later (id int8 GENERATED ALWAYS AS IDENTITY); SET ROLE skua_writer");
  session().run("INSERT INTO skua.later DEFAULT VALUES");
  EXPECT_EQ(value("SELECT count(*) FROM skua.later"), "1");
}

TEST_F(SchemaTest, a_user_who_may_not_create_roles_can_migrate) {
  test::Database own(test::Database::Content::empty);
  session().run(
      "DO $$ BEGIN CREATE ROLE skua_test_plain LOGIN; EXCEPTION WHEN duplicate_object OR "
      "unique_violation THEN NULL; END $$");
  Session admin(own.url(), "test");
  admin.run("GRANT CREATE ON DATABASE " + own.name() + " TO skua_test_plain");
  Session plain(own.url(), "test");
  plain.run("SET ROLE skua_test_plain");
  EXPECT_EQ(migrate(plain, migrations()).size(), migrations().size());
}

}  // namespace
}  // namespace skua::store::migrations_test
