#include "postgres/migrations.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/postgres.hpp"
#include "support/schema_text.hpp"
#include "support/shared_data.hpp"

namespace skua::postgres::migrations_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kTables =
    "CREATE SCHEMA bsky; CREATE SCHEMA skua; "
    "CREATE TABLE skua.migrations (version int4 PRIMARY KEY, name text, checksum text); "
    "CREATE TABLE skua.schema_files (name text PRIMARY KEY, checksum text, objects text[], "
    "applied_at timestamptz DEFAULT now()); "
    "CREATE TABLE skua.runs (file text); "
    "CREATE TABLE bsky.posts (id int4, words text); INSERT INTO bsky.posts VALUES (1, 'one')";
constexpr const char* kView =
    "CREATE OR REPLACE VIEW bsky.posts_view AS SELECT id FROM bsky.posts; "
    "INSERT INTO skua.runs VALUES ('view')";
constexpr const char* kFunction =
    "CREATE OR REPLACE FUNCTION bsky.post(n int4) RETURNS SETOF bsky.posts_view LANGUAGE sql "
    "STABLE AS 'SELECT * FROM bsky.posts_view WHERE id = n'; "
    "INSERT INTO skua.runs VALUES ('function')";
constexpr const char* kRights =
    "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bsky TO PUBLIC; "
    "INSERT INTO skua.runs VALUES ('rights')";

/// Two tables, a view, a function of the view, and rights.
Schema small() {
  return {
      .baseline = 2,
      .tables = {{"tables/posts.sql", kTables}},
      .migrations = {{1, "first", "SELECT 1/0"}, {2, "baseline", "SELECT 1/0"}},
      .definitions = {
          {"views/posts.sql", kView}, {"functions/posts.sql", kFunction}, {"rights.sql", kRights}}};
}

constexpr Migration kMore{3, "more", "CREATE TABLE skua.more (id int4)"};

class MigrationsTest : public testing::Test {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  Session& session() {
    if (!session_) session_ = std::make_unique<Session>(database_.url(), "test");
    return *session_;
  }

  std::string failure(const Schema& schema) {
    try {
      migrate(session(), schema);
    } catch (const MigrationError& error) {
      return error.what();
    }
    return "no error";
  }

  std::string value(const std::string& sql) {
    const Rows rows = session().run(sql);
    return rows.empty() || rows.is_null(0, 0) ? "" : std::string(rows.text(0, 0));
  }

  /// The files that were applied since the last call, in this order.
  std::string runs() {
    const std::string files = value("SELECT string_agg(file, ' ' ORDER BY ctid) FROM skua.runs");
    session().run("TRUNCATE skua.runs");
    return files;
  }

  test::Database database_{test::Database::Content::empty};
  std::unique_ptr<Session> session_;
};

TEST(EmbeddedSchemaTest, has_the_files_of_the_schema_folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("schema")) {
    if (entry.path().extension() != ".sql") continue;
    files.insert(std::filesystem::relative(entry.path(), "schema").string());
  }
  std::set<std::string> embedded;
  const auto expect = [&](const std::string& name, std::string_view sql) {
    EXPECT_EQ(sql, as_text(test::read_file("schema/" + name))) << name;
    EXPECT_TRUE(embedded.insert(name).second) << name;
  };
  for (const SchemaFile& file : schema().tables) expect(std::string(file.name), file.sql);
  for (const SchemaFile& file : schema().definitions) {
    if (file.name != "projections") expect(std::string(file.name), file.sql);
  }
  for (const Migration& migration : schema().migrations) {
    expect("migrations/" + migration.label() + ".sql", migration.sql);
  }
  EXPECT_EQ(embedded, files);
  EXPECT_EQ(schema().definitions.back().name, "rights.sql");
  EXPECT_FALSE(schema().former.empty());
}

TEST_F(MigrationsTest, a_new_database_gets_all_and_a_second_time_nothing) {
  EXPECT_EQ(pending_changes(session(), schema()).text(), "has no tables");
  const SchemaChanges applied = migrate(session(), schema());
  EXPECT_TRUE(applied.is_new);
  EXPECT_EQ(applied.definitions.size(), schema().definitions.size());
  EXPECT_TRUE(pending_changes(session(), schema()).empty());
  EXPECT_TRUE(migrate(session(), schema()).empty());
  EXPECT_EQ(value("SELECT max(version)::text FROM skua.migrations"),
            std::to_string(schema().version()));
}

TEST_F(MigrationsTest, files_are_applied_in_their_order_with_the_rights_at_the_end) {
  migrate(session(), small());
  EXPECT_EQ(runs(), "view function rights");
  EXPECT_EQ(value("SELECT string_agg(concat_ws(' ', name, objects::text), '; ' ORDER BY name) FROM "
                  "skua.schema_files"),
            "functions/posts.sql {\"function bsky.post(integer)\"}; rights.sql {}; "
            "views/posts.sql {\"view bsky.posts_view\"}");
  Schema wrong = small();
  std::swap(wrong.definitions[0], wrong.definitions[1]);
  test::Database other{test::Database::Content::empty};
  Session there(other.url(), "test");
  EXPECT_THROW(migrate(there, wrong), DefectError) << "the function comes before its view";
}

TEST_F(MigrationsTest, a_new_migration_is_applied_and_all_definitions_follow) {
  migrate(session(), small());
  runs();
  Schema more = small();
  more.migrations.push_back(kMore);
  EXPECT_EQ(pending_changes(session(), more).text(), "lacks 1 migration, from 0003_more on");
  const SchemaChanges applied = migrate(session(), more);
  ASSERT_EQ(applied.migrations.size(), 1U);
  EXPECT_EQ(applied.migrations[0].label(), "0003_more");
  EXPECT_EQ(runs(), "view function rights");
  EXPECT_TRUE(migrate(session(), more).empty());
}

TEST_F(MigrationsTest, a_new_database_gets_the_migrations_after_the_baseline) {
  Schema more = small();
  more.migrations.push_back(kMore);
  migrate(session(), more);
  EXPECT_EQ(value("SELECT string_agg(version::text, ' ' ORDER BY version) FROM skua.migrations"),
            "2 3");
  EXPECT_EQ(value("SELECT to_regclass('skua.more')::text"), "skua.more");
}

TEST_F(MigrationsTest, migrations_of_a_new_database_can_call_the_functions_before_them) {
  Schema more = small();
  more.definitions.insert(
      more.definitions.begin(),
      {"functions/early.sql",
       "CREATE OR REPLACE FUNCTION skua.early(n int4) RETURNS void LANGUAGE sql "
       "AS 'INSERT INTO bsky.posts VALUES (n, NULL)'"});
  more.migrations.push_back({3, "more", "SELECT skua.early(3)"});
  Schema wrong = more;
  EXPECT_THROW(migrate(session(), wrong), DefectError) << "the function comes after the migration";
  more.before_migrations = 1;
  migrate(session(), more);
  EXPECT_EQ(value("SELECT string_agg(id::text, ' ' ORDER BY id) FROM bsky.posts"), "1 3");
  EXPECT_EQ(value("SELECT objects::text FROM skua.schema_files WHERE name = 'functions/early.sql'"),
            "{\"function skua.early(integer)\"}");
  EXPECT_TRUE(migrate(session(), more).empty());
}

TEST_F(MigrationsTest, a_changed_migration_or_table_is_refused) {
  Schema more = small();
  more.migrations.push_back(kMore);
  migrate(session(), more);
  Schema changed = more;
  changed.migrations.back().sql = "CREATE TABLE skua.more (id int8)";
  EXPECT_THAT(failure(changed), HasSubstr("0003_more was changed"));
  changed = more;
  changed.tables.push_back({"tables/more.sql", "SELECT 1"});
  EXPECT_THAT(failure(changed), HasSubstr("0002_baseline was changed"));
  changed.former = {{changed.baseline, more.tables_checksum()}};
  EXPECT_TRUE(pending_changes(session(), changed).empty()) << "other files made the same tables";
}

TEST_F(MigrationsTest, a_newer_database_is_refused) {
  Schema more = small();
  more.migrations.push_back(kMore);
  migrate(session(), more);
  EXPECT_THROW(migrate(session(), small()), NewerDatabase);
  EXPECT_THAT(failure(small()), HasSubstr("0003_more"));
  EXPECT_THAT(failure(small()), HasSubstr("use the newer skua"));
}

TEST_F(MigrationsTest, a_migration_that_is_missing_below_the_newest_is_refused) {
  Schema more = small();
  more.migrations.push_back({4, "last", "SELECT 1"});
  migrate(session(), more);
  more.migrations.insert(more.migrations.end() - 1, kMore);
  EXPECT_THAT(failure(more), HasSubstr("never 0003_more"));
}

TEST_F(MigrationsTest, a_failure_leaves_the_database_as_it_was) {
  migrate(session(), small());
  runs();
  Schema broken = small();
  broken.migrations.push_back(kMore);
  broken.migrations.push_back({4, "broken", "CREATE TABLE skua.half (id int4); SELECT 1/0"});
  EXPECT_THROW(migrate(session(), broken), DataError);
  EXPECT_EQ(value("SELECT concat(to_regclass('skua.half'), to_regclass('skua.more'))"), "");
  EXPECT_TRUE(migrate(session(), small()).empty());
  broken.migrations.pop_back();
  broken.definitions[1].sql = "SELECT 1/0";
  EXPECT_THROW(migrate(session(), broken), DataError);
  EXPECT_EQ(value("SELECT to_regclass('skua.more')"), "");
  EXPECT_EQ(runs(), "");
}

/// The files in which a process dies.
class KilledTest : public MigrationsTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(KilledTest, a_second_run_finishes_after_a_kill_at_any_point) {
  const std::string kKill = "; SELECT pg_terminate_backend(pg_backend_pid())";
  const auto killed = [&](Schema broken, std::string& text) {
    std::vector<std::string_view*> texts;
    for (SchemaFile& file : broken.tables) texts.push_back(&file.sql);
    if (broken.migrations.back().version > broken.baseline) {
      texts.push_back(&broken.migrations.back().sql);
    }
    for (SchemaFile& file : broken.definitions) texts.push_back(&file.sql);
    std::string_view& victim = *texts[std::min(GetParam(), texts.size() - 1)];
    text = std::string(victim) + kKill;
    victim = text;
    Session other(database_.url(), "test");
    EXPECT_THROW(migrate(other, broken), ServerError);
  };
  std::string text;
  killed(small(), text);
  EXPECT_EQ(value("SELECT to_regclass('skua.migrations')"), "");
  EXPECT_TRUE(migrate(session(), small()).is_new);
  EXPECT_EQ(runs(), "view function rights");

  Schema more = small();
  more.migrations.push_back(kMore);
  more.definitions[0].sql =
      "CREATE OR REPLACE VIEW bsky.posts_view AS SELECT words FROM bsky.posts";
  more.definitions[1].sql =
      "CREATE OR REPLACE FUNCTION bsky.post(n text) RETURNS SETOF bsky.posts_view LANGUAGE sql "
      "STABLE AS 'SELECT * FROM bsky.posts_view WHERE words = n'";
  if (GetParam() > 0) {
    killed(more, text);
    EXPECT_TRUE(migrate(session(), small()).empty()) << "nothing was changed";
  }
  EXPECT_EQ(migrate(session(), more).migrations.size(), 1U);
  EXPECT_EQ(value("SELECT bsky.post('one')::text"), "(one)");
  EXPECT_TRUE(migrate(session(), more).empty());
}

INSTANTIATE_TEST_SUITE_P(Points, KilledTest, testing::Range<std::size_t>(0, 5));

TEST_F(MigrationsTest, a_changed_file_is_applied_again_and_views_of_users_stay) {
  migrate(session(), small());
  runs();
  session().run("CREATE VIEW public.mine AS SELECT id FROM bsky.posts_view");
  Schema changed = small();
  changed.definitions[0].sql =
      "CREATE OR REPLACE VIEW bsky.posts_view AS SELECT id, words FROM bsky.posts; "
      "INSERT INTO skua.runs VALUES ('view')";
  EXPECT_EQ(pending_changes(session(), changed).text(),
            "has other views or functions than this program: views/posts.sql");
  EXPECT_EQ(migrate(session(), changed).definitions.size(), 2U);
  EXPECT_EQ(runs(), "view rights");
  EXPECT_EQ(value("SELECT bsky.post(1)::text"), "(1,one)");
  EXPECT_EQ(value("SELECT id::text FROM public.mine"), "1");
  EXPECT_TRUE(migrate(session(), changed).empty());
}

TEST_F(MigrationsTest, a_view_with_other_columns_is_created_again_with_all_that_depends_on_it) {
  migrate(session(), small());
  runs();
  Schema changed = small();
  changed.definitions[0].sql =
      "CREATE OR REPLACE VIEW bsky.posts_view AS SELECT id::int8 AS id FROM bsky.posts; "
      "INSERT INTO skua.runs VALUES ('view')";
  migrate(session(), changed);
  EXPECT_EQ(runs(), "view function rights");
  EXPECT_EQ(value("SELECT pg_typeof(id)::text FROM bsky.post(1)"), "bigint");
}

TEST_F(MigrationsTest, a_migration_may_drop_views_which_are_created_again) {
  migrate(session(), small());
  Schema wide = small();
  wide.migrations.push_back({3, "wide",
                             "DROP FUNCTION bsky.post(int4); DROP VIEW bsky.posts_view; "
                             "ALTER TABLE bsky.posts ALTER id TYPE int8"});
  migrate(session(), wide);
  EXPECT_EQ(value("SELECT pg_typeof(id)::text FROM bsky.post(1)"), "bigint");
  EXPECT_TRUE(migrate(session(), wide).empty());
}

TEST_F(MigrationsTest, objects_of_users_are_named_and_not_dropped) {
  migrate(session(), small());
  runs();
  session().run(
      "CREATE VIEW public.mine AS SELECT id FROM bsky.posts_view; "
      "CREATE VIEW public.over_mine AS SELECT id FROM public.mine; "
      "CREATE FUNCTION public.of_mine() RETURNS SETOF bsky.posts_view LANGUAGE sql AS "
      "'SELECT * FROM bsky.posts_view'");
  Schema changed = small();
  changed.definitions[0].sql =
      "CREATE OR REPLACE VIEW bsky.posts_view AS SELECT words FROM bsky.posts";
  changed.definitions[1].sql =
      "CREATE OR REPLACE FUNCTION bsky.post(n text) RETURNS SETOF bsky.posts_view LANGUAGE sql "
      "STABLE AS 'SELECT * FROM bsky.posts_view WHERE words = n'";
  const std::string refused = failure(changed);
  EXPECT_THAT(refused, HasSubstr("views/posts.sql"));
  EXPECT_THAT(refused, HasSubstr("view public.mine"));
  EXPECT_THAT(refused, HasSubstr("view public.over_mine"));
  EXPECT_THAT(refused, HasSubstr("function public.of_mine()"));
  EXPECT_EQ(value("SELECT id::text FROM public.over_mine"), "1");
  EXPECT_TRUE(migrate(session(), small()).empty()) << "nothing was changed";
  session().run("DROP FUNCTION public.of_mine(); DROP VIEW public.mine CASCADE");
  migrate(session(), changed);
  EXPECT_EQ(value("SELECT bsky.post('one')::text"), "(one)");
}

TEST_F(MigrationsTest, what_no_file_creates_any_more_is_dropped) {
  migrate(session(), small());
  Schema changed = small();
  // Another argument makes another function, and not a new version of the former one.
  changed.definitions[1].sql =
      "CREATE OR REPLACE FUNCTION bsky.post(n int4, m int4 DEFAULT 0) RETURNS SETOF "
      "bsky.posts_view LANGUAGE sql STABLE AS 'SELECT * FROM bsky.posts_view WHERE id = n'";
  migrate(session(), changed);
  EXPECT_EQ(value("SELECT string_agg(oid::regprocedure::text, ' ') FROM pg_proc WHERE pronamespace "
                  "= 'bsky'::regnamespace"),
            "bsky.post(integer,integer)");
  changed.definitions.erase(changed.definitions.begin() + 1);
  EXPECT_FALSE(pending_changes(session(), changed).empty());
  migrate(session(), changed);
  EXPECT_EQ(value("SELECT to_regproc('bsky.post')"), "");
  EXPECT_EQ(value("SELECT string_agg(name, ' ' ORDER BY name) FROM skua.schema_files"),
            "rights.sql views/posts.sql");
  EXPECT_TRUE(migrate(session(), changed).empty());
}

TEST_F(MigrationsTest, an_object_that_users_need_is_not_dropped_as_a_leftover) {
  migrate(session(), small());
  session().run(
      "CREATE VIEW public.mine AS SELECT p.id FROM bsky.post(1) AS p; "
      "INSERT INTO bsky.posts VALUES (2, 'two')");
  Schema changed = small();
  changed.definitions.erase(changed.definitions.begin() + 1);
  EXPECT_THAT(failure(changed), HasSubstr("view public.mine"));
  EXPECT_EQ(value("SELECT id::text FROM public.mine"), "1");
}

TEST_F(MigrationsTest, an_object_may_move_to_another_file) {
  migrate(session(), small());
  Schema changed = small();
  const std::string both = std::string(kView) + "; " + kFunction;
  changed.definitions[0].sql = both;
  changed.definitions[1].sql = "SELECT 1";
  session().run("CREATE VIEW public.mine AS SELECT p.id FROM bsky.post(1) AS p");
  migrate(session(), changed);
  EXPECT_EQ(value("SELECT bsky.post(1)::text"), "(1)");
  migrate(session(), small());
  EXPECT_EQ(value("SELECT id::text FROM public.mine"), "1");
}

TEST_F(MigrationsTest, a_missing_object_is_created_again) {
  migrate(session(), small());
  session().run("DROP FUNCTION bsky.post(int4)");
  runs();
  EXPECT_EQ(pending_changes(session(), small()).text(),
            "has other views or functions than this program: functions/posts.sql");
  migrate(session(), small());
  EXPECT_EQ(runs(), "function rights");
  EXPECT_EQ(value("SELECT bsky.post(1)::text"), "(1)");
}

TEST_F(MigrationsTest, functions_of_users_in_our_schemas_do_not_become_ours) {
  migrate(session(), small());
  session().run("CREATE FUNCTION bsky.mine() RETURNS int4 LANGUAGE sql AS 'SELECT 1'");
  Schema changed = small();
  changed.definitions[0].sql =
      "CREATE OR REPLACE VIEW bsky.posts_view AS SELECT id, words FROM bsky.posts";
  migrate(session(), changed);
  EXPECT_EQ(value("SELECT count(*)::text FROM skua.schema_files, unnest(objects) AS o WHERE o LIKE "
                  "'%mine%'"),
            "0");
  session().run("DROP FUNCTION bsky.mine()");
  EXPECT_TRUE(migrate(session(), changed).empty());
}

TEST_F(MigrationsTest, a_former_database_becomes_the_baseline) {
  Schema now = small();
  now.migrations = {{7, "seventh", "ALTER TABLE bsky.posts ADD COLUMN words text"},
                    {8, "baseline",
                     "CREATE TABLE skua.schema_files (name text PRIMARY KEY, checksum text, "
                     "objects text[], applied_at timestamptz DEFAULT now())"},
                    {9, "ninth", "CREATE TABLE skua.ninth (id int4)"}};
  now.baseline = 8;
  now.former = {{6, SchemaFile{.name = {}, .sql = "fivesix"}.checksum()},
                {7, SchemaFile{.name = {}, .sql = "fivesixseven"}.checksum()}};
  const std::string kFormer =
      "CREATE SCHEMA bsky; CREATE SCHEMA skua; CREATE TABLE skua.runs (file text); "
      "CREATE TABLE skua.migrations (version int4 PRIMARY KEY, name text, checksum text); "
      "CREATE TABLE bsky.posts (id int4); INSERT INTO bsky.posts VALUES (1); "
      "CREATE VIEW bsky.posts_view AS SELECT id FROM bsky.posts; "
      "INSERT INTO skua.migrations VALUES (5, 'fifth', 'five')";
  session().run(kFormer);
  const std::string too_old = failure(now);
  EXPECT_THAT(too_old, HasSubstr("the schema of migration 0005_fifth"));
  EXPECT_THAT(too_old, HasSubstr("from migration 0006 on: create an empty database"));
  session().run("INSERT INTO skua.migrations VALUES (6, 'sixth', 'other')");
  EXPECT_THAT(failure(now), HasSubstr("are not those of a version of skua"));
  session().run("UPDATE skua.migrations SET checksum = 'six' WHERE version = 6");
  EXPECT_EQ(pending_changes(session(), now).text(), "lacks 3 migrations, from 0007_seventh on");
  migrate(session(), now);
  EXPECT_EQ(value("SELECT string_agg(version || ' ' || name, ', ' ORDER BY version) FROM "
                  "skua.migrations"),
            "5 fifth, 6 sixth, 7 seventh, 8 baseline, 9 ninth");
  EXPECT_EQ(runs(), "view function rights");
  EXPECT_EQ(value("SELECT bsky.post(1)::text"), "(1)");
  EXPECT_TRUE(migrate(session(), now).empty());
}

TEST_F(MigrationsTest, two_at_once_apply_each_once) {
  const std::string url = database_.url();
  std::vector<int> applied(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      Session session(url, "test");
      applied[i] = migrate(session, small()).empty() ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(applied[0] + applied[1], 1);
}

class SchemaTest : public test::PostgresTest {
 protected:
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  std::string list(const std::string& sql) {
    return value("SELECT string_agg(x, ', ' ORDER BY x) FROM (" + sql + ") AS s(x)");
  }

  std::string definitions() { return value(test::kSchemaText); }
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

TEST_F(SchemaTest, a_collection_that_gets_a_table_gets_its_number_everywhere) {
  session().run(
      "INSERT INTO bsky.collections (id, nsid) VALUES (1000, 'com.example.note'), (1001, "
      "'com.example.other'); "
      "INSERT INTO bsky.records (actor_id, collection_id, rkey, rev, indexed_at, cid, record) "
      "VALUES (1, 1000, 5, 7, now(), '\\x01', '{}'), (1, 1001, 5, 7, now(), '\\x01', '{}'); "
      "INSERT INTO bsky.likes (actor_id, rkey, rev, indexed_at, cid, subject_actor, "
      "subject_collection, subject_rkey) VALUES (1, 9, 7, now(), '\\x01', 2, 1000, 3); "
      "SELECT skua.append_changes('{1,1}', '{1,1}', '{1,4}', '{1000,1001}', '{5,5}', '{7,7}', "
      "'{NULL,NULL}', NULL, '{}', '{}', '{}', '{}', '{}', '{}'); "
      "SELECT skua.give_fixed_number('com.example.note', 99); "
      "SELECT skua.give_fixed_number('com.example.unknown', 98)");
  EXPECT_EQ(list("SELECT id::text FROM bsky.collections WHERE nsid LIKE 'com.example.%'"),
            "1001, 98, 99");
  EXPECT_EQ(list("SELECT collection_id::text FROM bsky.records"), "1001, 99");
  EXPECT_EQ(value("SELECT subject_collection::text FROM bsky.likes"), "99");
  EXPECT_EQ(value("SELECT collection_id::text FROM skua.change_log"), "{99,1001}");
}

TEST_F(SchemaTest, each_view_and_function_belongs_to_one_file) {
  EXPECT_EQ(list("SELECT o FROM skua.schema_files, unnest(objects) AS o GROUP BY o HAVING "
                 "count(*) > 1"),
            "");
  // Builds of projections replace the views of projections.
  std::set<std::string> replaced;
  const std::regex declaration("skua.declare_projection\\('([a-z_]+)'");
  for (const SchemaFile& file : schema().definitions) {
    if (file.name != "projections") continue;
    const std::string text(file.sql);
    for (std::sregex_iterator one(text.begin(), text.end(), declaration), end; one != end; ++one) {
      replaced.insert("bsky." + (*one)[1].str());
    }
  }
  EXPECT_TRUE(replaced.contains("bsky.post_stats"));
  EXPECT_EQ(list("SELECT i.identity FROM (SELECT 'pg_proc'::regclass AS classid, oid, pronamespace "
                 "AS schema FROM pg_proc UNION ALL SELECT 'pg_class'::regclass, oid, relnamespace "
                 "FROM pg_class WHERE relkind = 'v') AS o CROSS JOIN LATERAL "
                 "pg_identify_object(o.classid, o.oid, 0) AS i WHERE o.schema IN "
                 "('bsky'::regnamespace, 'skua'::regnamespace) AND i.type || ' ' || i.identity NOT "
                 "IN (SELECT unnest(objects) FROM skua.schema_files)"),
            fmt::format("{}", fmt::join(replaced, ", ")));
}

TEST_F(SchemaTest, files_that_are_applied_again_change_nothing) {
  session().run(
      "CREATE TABLE skua.post_stats_7 (actor_id int8, rkey int8, likes int4, reposts int4, replies "
      "int4, quotes int4); INSERT INTO skua.post_stats_7 VALUES (1, 2, 3, 4, 5, 6); "
      "SELECT skua.show_projection('post_stats', 7); "
      "CREATE VIEW public.mine AS SELECT uri, likes FROM bsky.posts_view; "
      "GRANT SELECT ON bsky.posts_view TO PUBLIC; "
      "INSERT INTO skua.filter VALUES ('did', 'did:plc:a')");
  const std::string before = definitions();
  session().run("UPDATE skua.schema_files SET checksum = ''");
  EXPECT_EQ(migrate(session(), schema()).definitions.size(), schema().definitions.size());
  EXPECT_EQ(definitions(), before);
  EXPECT_EQ(value("SELECT likes::text FROM bsky.post_stats"), "3");
  EXPECT_EQ(value("SELECT dids::text FROM skua.filter_state"), "{did:plc:a}");
  session().run("DELETE FROM skua.filter");
  EXPECT_EQ(value("SELECT dids::text FROM skua.filter_state"), "{}");
}

TEST_F(SchemaTest, views_are_created_again_if_a_function_must_be_dropped) {
  session().run(
      "INSERT INTO bsky.collections (nsid) VALUES ('com.example.note'); "
      "INSERT INTO skua.lexicons (nsid, document, view_name, columns) VALUES ('com.example.note', "
      "'{}', 'note', '[{\"name\": \"title\", \"key\": \"title\", \"type\": \"text\", "
      "\"comment\": \"The title.\"}]'); "
      "SELECT skua.make_lexicon_view(view_name, nsid, columns) FROM skua.lexicons");
  const std::string before = definitions();
  // CREATE OR REPLACE cannot remove the default of a parameter.
  session().run(value(
      "SELECT replace(pg_get_functiondef('bsky.cid_text'::regproc), '(d bytea)', '(d bytea DEFAULT "
      "NULL)')"));
  ASSERT_NE(definitions(), before);
  session().run("UPDATE skua.schema_files SET checksum = '' WHERE name = 'functions/keys.sql'");
  session().run("CREATE VIEW public.mine AS SELECT title FROM lexicon.note");
  EXPECT_THROW(migrate(session(), schema()), MigrationError);
  session().run("DROP VIEW public.mine");
  migrate(session(), schema());
  const std::string after = definitions();
  EXPECT_TRUE(after == before) << test::first_difference(before, after);
  EXPECT_TRUE(migrate(session(), schema()).empty());
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
  // Consumers, projections of users and cursors are no records, and few.
  EXPECT_EQ(list("SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' "
                 "AND conrelid NOT IN ('skua.consumers'::regclass, 'skua.group_cursors'::regclass) "
                 "AND connamespace IN "
                 "('bsky'::regnamespace, 'skua'::regnamespace)"),
            "");
  // The filter is no record, and small: what follows from changing it belongs to the change.
  EXPECT_EQ(list("SELECT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal AND "
                 "tgrelid <> ALL ("
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
  for (const char* column : {"payload", "did", "path", "key", "note", "lease_owner"}) {
    EXPECT_THROW(session().run(std::string("SELECT ") + column + " FROM skua.dead_letter"),
                 DefectError);
  }
}

TEST_F(SchemaTest, the_writer_writes_rows_and_changes_no_rights) {
  const std::string tables =
      "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace IN "
      "('bsky'::regnamespace, 'skua'::regnamespace) AND ";
  for (const char* right : {"SELECT", "INSERT", "UPDATE", "DELETE"}) {
    const std::string lacks =
        "NOT has_table_privilege('skua_writer', oid, '" + std::string(right) + "')";
    EXPECT_EQ(list(tables + lacks), right == std::string("SELECT")
                                        ? ""
                                        : "migrations, projections, reader_tables, schema_files")
        << right;
  }
  EXPECT_EQ(
      list(tables + "has_table_privilege('skua_writer', oid, 'TRUNCATE, TRIGGER, REFERENCES')"),
      "");
  EXPECT_EQ(
      list("SELECT proname::text FROM pg_proc WHERE pronamespace IN ('bsky'::regnamespace, "
           "'skua'::regnamespace) AND NOT has_function_privilege('skua_writer', oid, 'EXECUTE') "
           "ORDER BY 1"),
      "grant_producer, grant_projection, grant_reader, grant_writer, make_lexicon_view");
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
  EXPECT_TRUE(migrate(plain, schema()).is_new);
}

}  // namespace
}  // namespace skua::postgres::migrations_test
