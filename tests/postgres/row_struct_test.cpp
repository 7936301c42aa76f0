#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "postgres/rows.hpp"
#include "support/postgres.hpp"

namespace skua::postgres::row_struct_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Property;
using testing::ThrowsMessage;

struct Everything {
  std::int16_t small;
  std::int32_t integer;
  std::int64_t large;
  bool flag;
  double fraction;
  std::string text;
  Bytes bytes;
  std::array<std::uint8_t, 2> pair;
  Timestamp time;
  std::chrono::milliseconds duration;
  std::optional<std::string> absent;
};

struct Named {
  std::int32_t id;
  std::string name;
};

class RowStructTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { database_ = std::make_unique<test::Database>(); }
  static void TearDownTestSuite() { database_.reset(); }
  void SetUp() override { SKUA_NEED_POSTGRES(); }

  Session& session() {
    if (!session_) session_ = std::make_unique<Session>(database_->url(), "test");
    return *session_;
  }
  Rows select(const std::string& list) { return session().run("SELECT " + list); }

  static std::unique_ptr<test::Database> database_;
  std::unique_ptr<Session> session_;
};

std::unique_ptr<test::Database> RowStructTest::database_;

template <class Row>
auto refusal(const Rows& rows, const std::string& message) {
  return testing::Matches(ThrowsMessage<DefectError>(HasSubstr(message)))(
      [&] { rows_of<Row>(rows); });
}

TEST_F(RowStructTest, fields_are_the_columns_in_their_order) {
  const auto rows = rows_of<Everything>(
      select("1::int2, 2::int4, 3::int8, true, 0.5::float8, 'text', '\\x0a0b'::bytea, "
             "'\\xff00'::bytea, '2026-11-01 00:00:01.5Z'::timestamptz, 1500::int8, NULL::text"));
  ASSERT_EQ(rows.size(), 1U);
  const Everything& row = rows[0];
  EXPECT_EQ(row.small, 1);
  EXPECT_EQ(row.integer, 2);
  EXPECT_EQ(row.large, 3);
  EXPECT_TRUE(row.flag);
  EXPECT_EQ(row.fraction, 0.5);
  EXPECT_EQ(row.text, "text");
  EXPECT_EQ(row.bytes, (Bytes{10, 11}));
  EXPECT_EQ(row.pair, (std::array<std::uint8_t, 2>{255, 0}));
  EXPECT_EQ(row.time.time_since_epoch(), std::chrono::microseconds(1'793'491'201'500'000));
  EXPECT_EQ(row.duration, std::chrono::milliseconds(1500));
  EXPECT_EQ(row.absent, std::nullopt);
}

TEST_F(RowStructTest, one_column_is_a_value) {
  EXPECT_THAT(rows_of<std::int64_t>(select("i FROM generate_series(1::int8, 3) AS i")),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(rows_of<std::optional<std::string>>(select("u FROM unnest(ARRAY['a', NULL]) AS u")),
              ElementsAre("a", std::nullopt));
}

TEST_F(RowStructTest, a_smaller_integer_fits_a_larger_field) {
  EXPECT_THAT(rows_of<std::int64_t>(select("7::int2")), ElementsAre(7));
  EXPECT_TRUE(
      refusal<std::int32_t>(select("7::int8 AS seven"), "column 'seven' of the answer is int8"));
}

TEST_F(RowStructTest, other_numbers_and_types_of_columns_are_defects) {
  EXPECT_TRUE(refusal<Named>(select("1"), "the answer has 1 columns, the program reads 2"));
  EXPECT_TRUE(refusal<Named>(select("1, 'a', 'b'"), "the answer has 3 columns"));
  EXPECT_TRUE(refusal<Named>(select("1, 2 AS name"), "column 'name' of the answer is int4"));
  EXPECT_TRUE(refusal<bool>(select("1"), "int4"));
  EXPECT_TRUE(refusal<Timestamp>(select("'2026-11-01'::text"), "text"));
  EXPECT_TRUE(refusal<std::string>(select("now()"), "timestamptz"));
  EXPECT_TRUE(refusal<Bytes>(select("'a'::text"), "text"));
}

TEST_F(RowStructTest, types_are_checked_without_rows) {
  EXPECT_TRUE(refusal<Named>(select("1, 2 WHERE false"), "int4"));
  EXPECT_TRUE(rows_of<Named>(select("1, 'a'::text WHERE false")).empty());
}

TEST_F(RowStructTest, a_null_needs_an_optional_field) {
  EXPECT_THROW(rows_of<std::int32_t>(select("NULL::int4")), std::invalid_argument);
  EXPECT_THAT(rows_of<std::optional<std::int32_t>>(select("NULL::int4")),
              ElementsAre(std::nullopt));
}

TEST_F(RowStructTest, bytes_of_another_number_are_refused) {
  EXPECT_THROW((rows_of<std::array<std::uint8_t, 2>>(select("'\\x010203'::bytea"))),
               std::invalid_argument);
}

TEST_F(RowStructTest, the_first_row_or_nothing) {
  const Statement some{"some", "SELECT i, 'n' || i FROM generate_series(1, $1::int4) AS i"};
  EXPECT_FALSE(session().query_first<Named>(some, 0));
  EXPECT_EQ(session().query_first<Named>(some, 2)->name, "n1");
  EXPECT_THROW(session().query_one<Named>(some, 0), std::out_of_range);
}

// --- parameters

TEST_F(RowStructTest, each_type_of_arguments) {
  const std::vector<std::string> texts{"a", "b"};
  const Statement all{
      "all",
      "SELECT concat_ws(' ', $1::int2, $2::int4, $3::int8, $4::boolean, $5::float8, "
      "$6::text, encode($7::bytea, 'hex'), $8::timestamptz, $9::text[], $10::int8, "
      "$11::text IS NULL, $12::int8)"};
  EXPECT_EQ(session().query_one<std::string>(
                all, std::int16_t{1}, std::int32_t{2}, std::int64_t{3}, true, 0.5, "text",
                ByteView(Bytes{1, 2}), Timestamp(std::chrono::seconds(0)), texts,
                std::chrono::milliseconds(1500), std::optional<std::string>(), std::size_t{12}),
            "1 2 3 t 0.5 text 0102 1970-01-01 00:00:00+00 {a,b} 1500 t 12");
}

TEST_F(RowStructTest, an_argument_of_another_type_is_a_defect_that_names_the_statement) {
  const auto message = [&](const Statement& statement, auto argument) -> std::string {
    try {
      session().execute(statement, argument);
    } catch (const DefectError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message({"one", "SELECT $1::int8"}, std::int32_t{1}),
            "statement one: $1 is int8, the program passes int4");
  EXPECT_EQ(message({"two", "SELECT $1::text[]"}, "text"),
            "statement two: $1 is text[], the program passes text");
  EXPECT_EQ(message({"three", "SELECT $1::int4, $2::int4"}, std::int32_t{1}),
            "statement three has 2 parameters, the program passes 1");
  EXPECT_EQ(message({"four", "SELECT $1::varchar, $1::text"}, "text"), "no error");
}

TEST_F(RowStructTest, the_session_can_be_used_after_a_defect) {
  EXPECT_THROW(session().execute({"wrong", "SELECT $1::int8"}, true), DefectError);
  EXPECT_EQ(session().query_one<std::int32_t>({"right", "SELECT 1"}), 1);
}

// --- columns

struct Item {
  std::string name;
  std::optional<std::int32_t> number;
};

TEST_F(RowStructTest, a_column_of_members) {
  const std::vector<Item> items{{"a", 1}, {"b", std::nullopt}};
  const Statement read{
      "read_items",
      "SELECT string_agg(concat(u.name, u.number), ',') "
      "FROM unnest($1::text[], $2::int4[], $3::boolean[]) AS u(name, number, flag)"};
  EXPECT_EQ(session().query_one<std::string>(
                read, column(items, &Item::name), column(items, &Item::number),
                column(items, [](const Item& item) { return item.number.has_value(); })),
            "a1,b");
}

}  // namespace
}  // namespace skua::postgres::row_struct_test
