#include "postgres/session.hpp"

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/postgres.hpp"

namespace skua::postgres::session_test {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

class SessionTest : public testing::Test {
 protected:
  // One database for all: making one takes longer than all these tests.
  static void SetUpTestSuite() { database_ = std::make_unique<test::Database>(); }
  static void TearDownTestSuite() { database_.reset(); }

  void SetUp() override {
    SKUA_NEED_POSTGRES();
    session().run(
        "CREATE TABLE IF NOT EXISTS public.words (word text PRIMARY KEY); "
        "TRUNCATE public.words");
  }

  Session& session() {
    if (!session_) session_ = std::make_unique<Session>(database_->url(), "test");
    return *session_;
  }
  std::size_t words() { return session().run("SELECT * FROM public.words").size(); }

  /// What `SELECT <expression of $1>` answers.
  std::string echo(const std::string& expression, const Params& params) {
    const Rows rows =
        session().execute({"echo" + std::to_string(next_++), "SELECT " + expression}, params);
    return rows.is_null(0, 0) ? "(null)" : std::string(rows.text(0, 0));
  }
  std::string echo_array(const std::string& type, const Array& array) {
    Params params;
    params.array(array);
    return echo("$1::" + type + "[]", params);
  }

  static std::unique_ptr<test::Database> database_;
  std::unique_ptr<Session> session_;
  int next_ = 0;
};

std::unique_ptr<test::Database> SessionTest::database_;

Timestamp at(std::int64_t microseconds) {
  return Timestamp(std::chrono::microseconds(microseconds));
}

/// A setting of the database, and what a session has instead.
struct Setting {
  const char* name;
  const char* of_the_database;
  const char* of_the_session;
};

constexpr Setting kSettings[] = {
    {"synchronous_commit", "off", "on"},
    {"default_transaction_read_only", "on", "off"},
    {"default_transaction_isolation", "serializable", "read committed"},
    {"statement_timeout", "1s", "0"},
    {"lock_timeout", "1ms", "10s"},
    {"idle_in_transaction_session_timeout", "1s", "1min"},
    {"idle_session_timeout", "1s", "0"},
    {"exit_on_error", "on", "off"},
    {"search_path", "bsky", "public"},
    {"standard_conforming_strings", "off", "on"},
    {"backslash_quote", "off", "safe_encoding"},
    {"transform_null_equals", "on", "off"},
    {"array_nulls", "off", "on"},
    {"gin_fuzzy_search_limit", "1", "0"},
    {"plpgsql.extra_errors", "all", "none"},
    {"plpgsql.extra_warnings", "all", "none"},
    {"quote_all_identifiers", "on", "off"},
    {"timezone", "Asia/Tokyo", "UTC"},
    {"datestyle", "German", "ISO, MDY"},
    {"intervalstyle", "iso_8601", "postgres"},
    {"extra_float_digits", "-15", "1"},
    {"bytea_output", "escape", "hex"},
    {"client_encoding", "LATIN1", "UTF8"},
    {"client_min_messages", "debug1", "warning"},
    {"enable_nestloop", "off", "on"},
    {"enable_indexscan", "off", "on"},
    {"session_replication_role", "replica", "origin"},
};

TEST_F(SessionTest, a_warning_of_the_server_is_one_line_of_the_log) {
  session();
  testing::internal::CaptureStderr();
  session().run("DO $$ BEGIN RAISE WARNING E'first\\n  second'; END $$");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, testing::HasSubstr("warning store: WARNING: first second\n"));
}

TEST_F(SessionTest, its_settings_are_its_own_whatever_the_database_says) {
  const std::string alter = "ALTER DATABASE " + database_->name();
  for (const Setting& one : kSettings) {
    session().run(alter + " SET " + one.name + " = '" + one.of_the_database + "'");
  }
  Session changed(database_->url(), "it's");
  EXPECT_EQ(changed.run("SHOW application_name").text(0, 0), "it's");
  for (const Setting& one : kSettings) {
    EXPECT_EQ(changed.run(std::string("SHOW ") + one.name).text(0, 0), one.of_the_session)
        << one.name;
  }
  changed.run(alter + " RESET ALL");
}

TEST_F(SessionTest, a_role_that_may_ask_for_little_has_a_session) {
  const std::string role = "little_" + database_->name();
  session().run(
      "REVOKE EXECUTE ON FUNCTION pg_catalog.pg_control_system() FROM PUBLIC; "
      "REVOKE EXECUTE ON FUNCTION pg_catalog.pg_current_wal_flush_lsn() FROM PUBLIC; "
      "CREATE ROLE " +
      role + " LOGIN");
  const std::string url = database_->url();
  const std::size_t user = url.find("://") + 3;
  const std::string theirs =
      url.substr(0, user) + role + url.substr(url.find_first_of(":@/", user));
  {
    Session little(theirs, "little");
    EXPECT_EQ(little.run("SHOW application_name").text(0, 0), "little");
    EXPECT_NO_THROW(little.note_wal_position());
  }
  session().run("DROP ROLE " + role);
}

TEST_F(SessionTest, plans_anew_as_tables_grow) {
  const Statement later{"later_words", "SELECT word FROM public.words WHERE word > $1::text"};
  Params params;
  params.text("a");
  session().run("INSERT INTO public.words VALUES ('a'); ANALYZE public.words");
  for (int i = 0; i < 10; ++i) session().execute(later, params);  // by now the plan is kept
  session().run("INSERT INTO public.words SELECT 'b' || i FROM generate_series(1, 20000) AS i");
  for (int i = 0; i < 200; ++i) Transaction(session()).commit();

  session().execute(later, params);
  const Rows plan = session().run("EXPLAIN (FORMAT JSON) EXECUTE later_words('a')");
  const auto json = nlohmann::json::parse(plan.text(0, 0));
  EXPECT_GT(json[0]["Plan"]["Plan Rows"].get<int>(), 10) << "it was 1";
}

TEST_F(SessionTest, parameters_of_every_type_arrive) {
  EXPECT_EQ(echo("$1::int4", Params().int4(std::numeric_limits<std::int32_t>::min())),
            "-2147483648");
  EXPECT_EQ(echo("$1::int8", Params().int8(std::numeric_limits<std::int64_t>::max())),
            "9223372036854775807");
  EXPECT_EQ(echo("$1::boolean", Params().boolean(true)), "t");
  EXPECT_EQ(echo("$1::boolean", Params().boolean(false)), "f");
  EXPECT_EQ(echo("$1::text", Params().text("h\u00e9 \"\\ {}")), "h\u00e9 \"\\ {}");
  EXPECT_EQ(echo("$1::text", Params().text("")), "");
  const Bytes bytes = {0, 1, 0xFF};
  EXPECT_EQ(echo("$1::bytea", Params().bytea(bytes)), "\\x0001ff");
  EXPECT_EQ(echo("$1::bytea", Params().bytea({})), "\\x");
  EXPECT_EQ(echo("$1::timestamptz", Params().timestamp(at(1'767'323'045'678'901))),
            "2026-01-02 03:04:05.678901+00");
  EXPECT_EQ(echo("$1::text", Params().null()), "(null)");
}

TEST_F(SessionTest, times_from_year_0_to_9999_arrive) {
  EXPECT_EQ(echo("$1::timestamptz", Params().timestamp(at(-62'135'596'800'000'000))),
            "0001-01-01 00:00:00+00");
  EXPECT_EQ(echo("$1::timestamptz", Params().timestamp(at(253'402'300'799'999'999))),
            "9999-12-31 23:59:59.999999+00");
  EXPECT_EQ(echo("$1::timestamptz", Params().timestamp(at(-62'167'219'200'000'000))),
            "0001-01-01 00:00:00+00 BC");
}

TEST_F(SessionTest, several_parameters_keep_their_places) {
  EXPECT_EQ(echo("concat_ws(',', $1::int4, $2::text, $3::int8, $4::text)",
                 Params().int4(1).null().int8(3).text("four")),
            "1,3,four");
}

TEST_F(SessionTest, nul_is_removed_and_counted) {
  EXPECT_EQ(echo("$1::text", Params().text("a\0b\0"sv)), "ab");
  EXPECT_EQ(session().nuls_removed(), 2U);
  Array array(Array::Type::text);
  array.text("\0x\0\0y"sv);
  array.text("plain");
  EXPECT_EQ(array.nuls_removed(), 3U);
  EXPECT_EQ(echo_array("text", array), "{xy,plain}");
  EXPECT_EQ(session().nuls_removed(), 5U);
}

TEST_F(SessionTest, arrays_of_every_type_arrive) {
  Array int4s(Array::Type::int4);
  int4s.int4(-1);
  int4s.null();
  int4s.int4(7);
  EXPECT_EQ(echo_array("int4", int4s), "{-1,NULL,7}");
  Array int8s(Array::Type::int8);
  int8s.int8(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(echo_array("int8", int8s), "{-9223372036854775808}");
  Array booleans(Array::Type::boolean);
  booleans.boolean(true);
  booleans.boolean(false);
  EXPECT_EQ(echo_array("boolean", booleans), "{t,f}");
  Array texts(Array::Type::text);
  texts.text("");
  texts.text("a,b");
  texts.null();
  texts.text("NULL");
  EXPECT_EQ(echo_array("text", texts), "{\"\",\"a,b\",NULL,\"NULL\"}");
  Array byteas(Array::Type::bytea);
  byteas.bytea(Bytes{0, 255});
  byteas.bytea({});
  EXPECT_EQ(echo_array("bytea", byteas), "{\"\\\\x00ff\",\"\\\\x\"}");
  Array times(Array::Type::timestamptz);
  times.timestamp(at(0));
  EXPECT_EQ(echo_array("timestamptz", times), "{\"1970-01-01 00:00:00+00\"}");
}

TEST_F(SessionTest, an_empty_array_and_one_of_nulls_arrive) {
  EXPECT_EQ(echo_array("text", Array(Array::Type::text)), "{}");
  Array nulls(Array::Type::bytea);
  nulls.null();
  nulls.null();
  EXPECT_EQ(echo_array("bytea", nulls), "{NULL,NULL}");
  EXPECT_EQ(nulls.size(), 2U);
}

TEST_F(SessionTest, a_large_array_arrives_whole) {
  Array numbers(Array::Type::int8);
  for (int i = 1; i <= 10'000; ++i) numbers.int8(i);
  Params params;
  params.array(numbers);
  EXPECT_EQ(echo("(SELECT sum(n) FROM unnest($1::int8[]) n)", params), "50005000");
}

TEST_F(SessionTest, text_array_literals_arrive) {
  const std::vector<std::string_view> items = {"en",  "",     "a\"b",   "back\\slash",
                                               "{,}", "NULL", "n\0ul"sv};
  Params params;
  params.text(text_array_literal(items));
  EXPECT_EQ(echo("array_to_string($1::text::text[], '|')", params),
            "en||a\"b|back\\slash|{,}|NULL|nul");
  EXPECT_EQ(session().nuls_removed(), 1U);
  EXPECT_EQ(text_array_literal({}), "{}");
}

TEST_F(SessionTest, times_are_instants_whatever_the_zone_they_were_written_in) {
  const Rows rows = session().run(
      "SELECT '2026-07-04 16:38:08.085434+02'::timestamptz, '2026-07-04 00:00Z'::timestamptz, "
      "'infinity'::timestamptz");
  EXPECT_EQ(format_datetime(rows.timestamp(0, 0)), "2026-07-04T14:38:08.085434Z");
  EXPECT_EQ(format_datetime(rows.timestamp(0, 1)), "2026-07-04T00:00:00.000000Z");
  EXPECT_THROW(rows.timestamp(0, 2), std::invalid_argument);
}

TEST_F(SessionTest, rows_answer_in_each_type) {
  const Rows rows = session().run(
      "SELECT 1::int4, -5000000000::int8, true, 2.5::float8, NULL, 'x' UNION ALL "
      "SELECT 2, 3, false, 4, NULL, 'y' ORDER BY 1");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.int4(0, 0), 1);
  EXPECT_EQ(rows.int8(0, 1), -5'000'000'000);
  EXPECT_TRUE(rows.boolean(0, 2));
  EXPECT_FALSE(rows.boolean(1, 2));
  EXPECT_EQ(rows.real(0, 3), 2.5);
  EXPECT_TRUE(rows.is_null(0, 4));
  EXPECT_EQ(rows.text(1, 5), "y");
  EXPECT_THROW(rows.int4(0, 1), std::invalid_argument);
  EXPECT_THROW(rows.int4(0, 4), std::invalid_argument);
  EXPECT_THROW(rows.text(2, 0), std::out_of_range);
  EXPECT_THROW(rows.text(0, 6), std::out_of_range);
}

struct ErrorCase {
  const char* name;
  const char* sql;
  const char* sqlstate;
};

template <class Expected>
void expect_error(Session& session, const ErrorCase& wrong) {
  try {
    session.run(wrong.sql);
    ADD_FAILURE() << wrong.name << ": no error";
  } catch (const Expected& error) {
    EXPECT_EQ(error.sqlstate(), wrong.sqlstate) << wrong.name;
  } catch (const SqlError& error) {
    ADD_FAILURE() << wrong.name << ": " << error.what();
  }
}

TEST_F(SessionTest, data_errors_are_told) {
  for (const ErrorCase& wrong : {
           ErrorCase{"division", "SELECT 1/0", "22012"},
           ErrorCase{"not a number", "SELECT 'x'::int4", "22P02"},
           ErrorCase{"unique", "INSERT INTO public.words VALUES ('x'), ('x')", "23505"},
           ErrorCase{"not null", "INSERT INTO public.words VALUES (NULL)", "23502"},
           ErrorCase{"too deep", "DO $$ BEGIN RAISE program_limit_exceeded; END $$", "54000"},
       }) {
    expect_error<DataError>(session(), wrong);
  }
  Params params;
  params.text("\xFF\xFE");
  EXPECT_THROW(echo("$1::text", params), DataError);
}

TEST_F(SessionTest, defects_are_told) {
  for (const ErrorCase& wrong : {
           ErrorCase{"syntax", "SELEC 1", "42601"},
           ErrorCase{"no table", "SELECT * FROM nowhere", "42P01"},
           ErrorCase{"no privilege", "DO $$ BEGIN RAISE insufficient_privilege; END $$", "42501"},
           ErrorCase{"row twice",
                     "INSERT INTO public.words VALUES ('a'), ('a') ON CONFLICT (word) DO UPDATE "
                     "SET word = 'b'",
                     "21000"},
       }) {
    expect_error<DefectError>(session(), wrong);
  }
}

TEST_F(SessionTest, errors_of_the_server_are_told) {
  for (const ErrorCase& wrong : {
           ErrorCase{"serialization", "DO $$ BEGIN RAISE serialization_failure; END $$", "40001"},
           ErrorCase{"deadlock", "DO $$ BEGIN RAISE deadlock_detected; END $$", "40P01"},
           ErrorCase{"completion", "DO $$ BEGIN RAISE statement_completion_unknown; END $$",
                     "40003"},
           ErrorCase{"rollback", "DO $$ BEGIN RAISE transaction_rollback; END $$", "40000"},
           ErrorCase{"disk full", "DO $$ BEGIN RAISE disk_full; END $$", "53100"},
           ErrorCase{"memory", "DO $$ BEGIN RAISE out_of_memory; END $$", "53200"},
           ErrorCase{"connections", "DO $$ BEGIN RAISE too_many_connections; END $$", "53300"},
           ErrorCase{"lock", "DO $$ BEGIN RAISE lock_not_available; END $$", "55P03"},
           ErrorCase{"canceled", "DO $$ BEGIN RAISE query_canceled; END $$", "57014"},
           ErrorCase{"i/o", "DO $$ BEGIN RAISE io_error; END $$", "58030"},
           ErrorCase{"internal", "DO $$ BEGIN RAISE internal_error; END $$", "XX000"},
           ErrorCase{"not supported", "DO $$ BEGIN RAISE feature_not_supported; END $$", "0A000"},
       }) {
    expect_error<ServerError>(session(), wrong);
  }
  expect_error<ServerError>(
      session(), {"read only", "BEGIN READ ONLY; INSERT INTO public.words VALUES ('x')", "25006"});
  EXPECT_TRUE(session().connected());
}

TEST_F(SessionTest, a_killed_backend_is_an_error_of_the_server) {
  Session victim(database_->url(), "victim");
  victim.begin();
  session().run("SELECT pg_terminate_backend(" + std::to_string(victim.backend_pid()) + ", 10000)");
  EXPECT_THROW(victim.run("SELECT 1"), ServerError);
  EXPECT_FALSE(victim.connected());
  EXPECT_NO_THROW(victim.rollback());
  // It must not come back by itself: locks and transaction are gone.
  EXPECT_THROW(victim.run("SELECT 1"), ServerError);
  EXPECT_THROW(victim.execute({"one", "SELECT 1"}, {}), ServerError);
  EXPECT_THROW(victim.begin(), ServerError);
}

TEST_F(SessionTest, a_backend_killed_before_commit_commits_nothing) {
  Session victim(database_->url(), "victim");
  victim.begin();
  victim.run("INSERT INTO public.words VALUES ('a')");
  session().run("SELECT pg_terminate_backend(" + std::to_string(victim.backend_pid()) + ", 10000)");
  EXPECT_THROW(victim.commit(), ServerError);
  EXPECT_EQ(words(), 0U);
}

TEST(ConnectTest, no_server_is_an_error_of_the_server) {
  EXPECT_THROW(Session("postgresql://nobody@127.0.0.1:1/nothing", "test"), ServerError);
}

TEST_F(SessionTest, a_transaction_commits_or_rolls_back) {
  {
    Transaction transaction(session());
    EXPECT_TRUE(session().in_transaction());
    session().run("INSERT INTO public.words VALUES ('a')");
  }
  EXPECT_FALSE(session().in_transaction());
  EXPECT_EQ(words(), 0U);
  {
    Transaction transaction(session());
    session().run("INSERT INTO public.words VALUES ('a')");
    transaction.commit();
  }
  EXPECT_EQ(words(), 1U);
}

TEST_F(SessionTest, a_failed_transaction_cannot_be_committed) {
  session().begin();
  session().run("INSERT INTO public.words VALUES ('a')");
  EXPECT_THROW(session().run("SELECT 1/0"), DataError);
  EXPECT_THROW(session().commit(), DefectError);
  EXPECT_FALSE(session().in_transaction());
  EXPECT_EQ(words(), 0U);
}

TEST_F(SessionTest, a_savepoint_saves_a_failed_transaction) {
  session().begin();
  session().run("INSERT INTO public.words VALUES ('a'); SAVEPOINT s");
  EXPECT_THROW(session().run("SELECT 1/0"), DataError);
  session().run("ROLLBACK TO SAVEPOINT s");
  session().commit();
  EXPECT_EQ(words(), 1U);
}

TEST_F(SessionTest, a_statement_survives_an_error) {
  const Statement divide{"divide", "SELECT 10 / $1::int4"};
  EXPECT_THROW(session().execute(divide, Params().int4(0)), DataError);
  EXPECT_EQ(session().execute(divide, Params().int4(5)).int4(0, 0), 2);
  session().begin();
  EXPECT_THROW(session().execute(divide, Params().int4(0)), DataError);
  const Statement first_used_while_failed{"later", "SELECT $1::int4"};
  EXPECT_THROW(session().execute(first_used_while_failed, Params().int4(1)), ServerError);
  session().rollback();
  EXPECT_EQ(session().execute(first_used_while_failed, Params().int4(1)).int4(0, 0), 1);
}

TEST_F(SessionTest, its_name_and_settings_are_as_promised) {
  Session named(database_->url(), std::string(100, 'n'));
  EXPECT_EQ(named.run("SHOW application_name").text(0, 0), std::string(63, 'n'));
  EXPECT_EQ(named.run("SHOW timezone").text(0, 0), "UTC");
  EXPECT_EQ(named.run("SHOW client_encoding").text(0, 0), "UTF8");
  EXPECT_EQ(named.run("SELECT pg_backend_pid()").int4(0, 0), named.backend_pid());
  EXPECT_EQ(named.run("SHOW transaction_isolation").text(0, 0), "read committed");
}

TEST(SqlErrorTest, the_classes_are_those_of_the_architecture) {
  for (const char* state : {"22021", "23505", "54000"}) {
    EXPECT_THROW(throw_sql_error("x", state), DataError) << state;
  }
  for (const char* state : {"42601", "21000", "2200H"}) {
    EXPECT_THROW(throw_sql_error("x", state), DefectError) << state;
  }
  for (const char* state : {"", "08006", "25006", "40P01", "53200", "55P03", "57P01", "58030",
                            "XX000", "0A000", "26000", "28P01", "3D000"}) {
    EXPECT_THROW(throw_sql_error("x", state), ServerError) << state;
  }
}

}  // namespace
}  // namespace skua::postgres::session_test
