#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "postgres/session.hpp"
#include "support/postgres.hpp"

namespace skua::postgres::copy_test {
namespace {

using namespace std::string_view_literals;

class CopyTest : public testing::Test {
 protected:
  CopyTest() : database_(test::Database::Content::empty) {}

  void SetUp() override {
    SKUA_NEED_POSTGRES();
    session_ = std::make_unique<Session>(database_.url(), "test");
    session_->run(
        "CREATE TABLE t (n int8 PRIMARY KEY, small int4, flag boolean, words text, list text[], "
        "json jsonb, bytes bytea, at timestamptz)");
  }
  std::string value(const std::string& sql) {
    const Rows rows = session_->run(sql);
    return rows.empty() || rows.is_null(0, 0) ? "" : std::string(rows.text(0, 0));
  }
  void copy(const CopyRows& rows, const std::string& columns) {
    session_->copy("t", columns, rows);
  }
  /// Rows of a number each.
  static CopyRows numbers(std::initializer_list<std::int64_t> all) {
    CopyRows rows(1);
    for (const std::int64_t n : all) {
      rows.row();
      rows.int8(n);
    }
    return rows;
  }

  test::Database database_;
  std::unique_ptr<Session> session_;
};

TEST_F(CopyTest, brings_every_kind_of_value) {
  CopyRows rows(8);
  rows.row();
  rows.int8(std::numeric_limits<std::int64_t>::max());
  rows.int4(std::numeric_limits<std::int32_t>::min());
  rows.boolean(true);
  rows.text("a\tb\n\\N \xF0\x9F\x90\xA6");
  const std::vector<std::string_view> list = {"", "NULL", "a,b", "\"\\{}"};
  rows.text_list(list);
  rows.json(R"({"a": [1, "x\"y"]})");
  const Bytes bytes = {0, 255, '\\', 10};
  rows.bytea(bytes);
  rows.timestamp(Timestamp(std::chrono::microseconds(1)));
  copy(rows, "n, small, flag, words, list, json, bytes, at");
  EXPECT_EQ(value("SELECT concat_ws('|', n, small, flag, words, list, json, bytes, at) FROM t"),
            "9223372036854775807|-2147483648|t|a\tb\n\\N \xF0\x9F\x90\xA6|"
            "{\"\",\"NULL\",\"a,b\",\"\\\"\\\\{}\"}|{\"a\": [1, \"x\\\"y\"]}|\\x00ff5c0a|"
            "1970-01-01 00:00:00.000001+00");
}

TEST_F(CopyTest, brings_nulls_and_empty_values) {
  CopyRows rows(8);
  rows.row();
  rows.int8(std::numeric_limits<std::int64_t>::min());
  for (int i = 0; i < 7; ++i) rows.null();
  rows.row();
  rows.int8(0);
  rows.int4(0);
  rows.boolean(false);
  rows.text("");
  rows.text_list({});
  rows.json("{}");
  rows.bytea({});
  rows.null();
  copy(rows, "n, small, flag, words, list, json, bytes, at");
  EXPECT_EQ(value("SELECT t::text FROM t WHERE n < 0"), "(-9223372036854775808,,,,,,,)");
  EXPECT_EQ(value("SELECT t::text FROM t WHERE n = 0"), "(0,0,f,\"\",{},{},\"\\\\x\",)");
}

TEST_F(CopyTest, takes_times_from_as_far_as_datetimes_go) {
  const std::vector<std::string> texts = {
      "0001-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z", "1999-12-31T23:59:59.999999Z",
      "9999-12-31T23:59:59.999999Z"};
  CopyRows rows(2);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    rows.row();
    rows.int8(static_cast<std::int64_t>(i));
    rows.timestamp(parse_datetime(texts[i])->instant);
  }
  copy(rows, "n, at");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(value("SELECT to_char(at, 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM t WHERE n = " +
                    std::to_string(i)),
              texts[i]);
  }
}

TEST_F(CopyTest, removes_nuls_and_counts_them) {
  CopyRows rows(4);
  rows.row();
  rows.int8(1);
  rows.text("a\0b\0"sv);
  const std::vector<std::string_view> list = {"\0"sv, "c\0d"sv};
  rows.text_list(list);
  rows.json("{\"a\": \"\0\"}"sv);
  copy(rows, "n, words, list, json");
  EXPECT_EQ(value("SELECT concat_ws('|', words, list, json) FROM t"), "ab|{\"\",cd}|{\"a\": \"\"}");
  EXPECT_EQ(session_->nuls_removed(), 5U);
}

struct BadRow {
  std::string name;
  std::string columns;
  void (*fill)(CopyRows&);
  std::string sqlstate;
};

class BadRows : public CopyTest, public testing::WithParamInterface<BadRow> {};

TEST_P(BadRows, are_data_errors_and_nothing_of_the_copy_stays) {
  CopyRows rows(2);
  for (std::int64_t n = 1; n <= 3'000; ++n) {
    rows.row();
    rows.int8(n);
    rows.null();
  }
  rows.row();
  GetParam().fill(rows);
  session_->begin();
  session_->run("INSERT INTO t (n) VALUES (7000)");
  try {
    copy(rows, GetParam().columns);
    FAIL() << "was taken";
  } catch (const DataError& error) {
    EXPECT_EQ(error.sqlstate(), GetParam().sqlstate) << error.what();
  }
  session_->rollback();
  EXPECT_EQ(value("SELECT count(*) FROM t"), "0");
  // The session can be used as before, in a transaction and without one.
  session_->begin();
  copy(numbers({1, 2}), "n");
  session_->commit();
  copy(numbers({3}), "n");
  EXPECT_EQ(value("SELECT count(*) FROM t"), "3");
}

INSTANTIATE_TEST_SUITE_P(Copies, BadRows,
                         testing::Values(BadRow{"a_key_twice", "n, words",
                                                [](CopyRows& rows) {
                                                  rows.int8(5);
                                                  rows.null();
                                                },
                                                "23505"},
                                         BadRow{"no_key", "n, words",
                                                [](CopyRows& rows) {
                                                  rows.null();
                                                  rows.null();
                                                },
                                                "23502"},
                                         BadRow{"no_utf8", "n, words",
                                                [](CopyRows& rows) {
                                                  rows.int8(4'000);
                                                  rows.text("\xff");
                                                },
                                                "22021"},
                                         BadRow{"no_json", "n, json",
                                                [](CopyRows& rows) {
                                                  rows.int8(4'000);
                                                  rows.json("{");
                                                },
                                                "22P02"}),
                         [](const auto& test) { return test.param.name; });

TEST_F(CopyTest, a_wrong_table_is_a_defect) {
  EXPECT_THROW(session_->copy("nowhere", "n", numbers({1})), DefectError);
  copy(numbers({1}), "n");
  EXPECT_EQ(value("SELECT count(*) FROM t"), "1");
}

TEST_F(CopyTest, brings_nothing_of_nothing) {
  copy(CopyRows(1), "n");
  EXPECT_EQ(value("SELECT count(*) FROM t"), "0");
}

TEST_F(CopyTest, brings_twenty_megabytes) {
  CopyRows rows(2);
  const std::string words(10'000, 'x');
  for (std::int64_t n = 0; n < 2'000; ++n) {
    rows.row();
    rows.int8(n);
    rows.text(words);
  }
  ASSERT_GT(rows.bytes(), 20'000'000U);
  copy(rows, "n, words");
  EXPECT_EQ(value("SELECT count(*) || ' ' || sum(length(words)) FROM t"), "2000 20000000");
}

TEST_F(CopyTest, a_connection_that_broke_is_the_servers_failure) {
  Session other(database_.url(), "other");
  other.run("SELECT pg_terminate_backend(" + std::to_string(session_->backend_pid()) + ", 5000)");
  EXPECT_THROW(copy(numbers({1}), "n"), ServerError);
  EXPECT_FALSE(session_->connected());
}

TEST_F(CopyTest, RowsOutOfAQuery) {
  std::string lines;
  const auto take = [&lines](std::string_view line) { lines += line; };
  EXPECT_EQ(
      session_->copy_out("SELECT n, 'a,b' FROM generate_series(1, 3) AS n", "FORMAT csv", take),
      3U);
  EXPECT_EQ(lines, "1,\"a,b\"\n2,\"a,b\"\n3,\"a,b\"\n");
  EXPECT_EQ(session_->copy_out("SELECT 1 WHERE false", "FORMAT csv", take), 0U);
}

TEST_F(CopyTest, AQueryThatFailsAfterSomeRows) {
  std::uint64_t rows = 0;
  const auto take = [&rows](std::string_view) { ++rows; };
  try {
    session_->copy_out("SELECT 1 / (1000 - n) FROM generate_series(1, 2000) AS n", "FORMAT csv",
                       take);
    FAIL() << "no error";
  } catch (const SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "22012");
  }
  EXPECT_EQ(rows, 999U);
  EXPECT_EQ(value("SELECT 1"), "1");
}

TEST_F(CopyTest, AReaderThatStopsLeavesAUsableSession) {
  struct Enough {};
  std::uint64_t rows = 0;
  const auto take = [&rows](std::string_view) {
    if (++rows == 10) throw Enough();
  };
  // Reading all rows would take minutes.
  EXPECT_THROW(session_->copy_out("SELECT generate_series(1, 1000000000)", "FORMAT csv", take),
               Enough);
  EXPECT_EQ(rows, 10U);
  EXPECT_EQ(value("SELECT 1"), "1");
  EXPECT_THROW(session_->copy_out("SELECT nothing", "FORMAT csv", take), SqlError);
  EXPECT_EQ(value("SELECT 1"), "1");
}

}  // namespace
}  // namespace skua::postgres::copy_test
