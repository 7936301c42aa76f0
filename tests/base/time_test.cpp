#include "base/time.hpp"

#include <chrono>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/result.hpp"
#include "support/test_vectors.hpp"

namespace skua::time_test {
namespace {

using test::LineVector;
using test::NameOfLine;
using test::own_lines;
using test::shared_lines;

class ValidDatetime : public testing::TestWithParam<LineVector> {};

TEST_P(ValidDatetime, is_taken) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const auto parsed = parse_datetime(GetParam().text);
  EXPECT_TRUE(parsed) << parsed.error().message();
}

INSTANTIATE_TEST_SUITE_P(
    Interop, ValidDatetime,
    testing::ValuesIn(shared_lines("interop/syntax/datetime_syntax_valid.txt")), NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, ValidDatetime,
                         testing::ValuesIn(own_lines({
                             "2026-07-04T14:38:08Z",
                             "2024-02-29T23:59:59.999999Z",
                             "0000-01-01T00:00:00Z",
                             "9999-12-31T23:59:59.999999999Z",
                             "2026-07-04T14:38:08.12345678901234567890+23:59",
                         })),
                         NameOfLine());

class InvalidDatetime : public testing::TestWithParam<LineVector> {};

TEST_P(InvalidDatetime, is_refused) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  EXPECT_FALSE(parse_datetime(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    InteropSyntax, InvalidDatetime,
    testing::ValuesIn(shared_lines("interop/syntax/datetime_syntax_invalid.txt")), NameOfLine());
INSTANTIATE_TEST_SUITE_P(
    InteropMeaning, InvalidDatetime,
    testing::ValuesIn(shared_lines("interop/syntax/datetime_parse_invalid.txt")), NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, InvalidDatetime,
                         testing::ValuesIn(own_lines({
                             "yesterday",
                             "2026-07-04",
                             "2026-07-04T14:38:08",
                             "2026-07-04T14:38Z",
                             "2026-07-04T14:38:08.Z",
                             "2026-07-04T14:38:08-00:00",
                             "2026-07-04T14:38:08+24:00",
                             "2026-07-04T14:38:08+01:60",
                             "2026-07-04T14:38:08ZZ",
                             "2026-07-04t14:38:08Z",
                             "2025-02-29T00:00:00Z",
                             "2026-07-04T24:00:00Z",
                             "2026-06-30T23:59:60Z",
                             "9999-12-31T23:59:59-00:01",
                             "0000-01-01T00:00:00+00:01",
                             "2026-07-04T14:38:08.123456789012345678901Z",
                         })),
                         NameOfLine());

TEST(ParseDatetime, says_what_is_wrong) {
  EXPECT_EQ(parse_datetime("").error(), errc::datetime_form);
  EXPECT_EQ(parse_datetime("2026-13-01T00:00:00Z").error(), errc::datetime_out_of_range);
  EXPECT_EQ(parse_datetime("2026-01-01T00:00:00-00:00").error(), errc::datetime_zone);
  EXPECT_EQ(parse_datetime("0000-01-01T00:00:00+01:00").error(), errc::datetime_year);
  EXPECT_NE(parse_datetime("").error().message().find("not a datetime"), std::string::npos);
}

TEST(ParseDatetime, gives_the_instant) {
  using namespace std::chrono;
  const Timestamp expected = sys_days(2026y / 7 / 4) + 14h + 38min + 8s + microseconds(85434);
  EXPECT_EQ(parse_datetime("2026-07-04T14:38:08.085434Z")->instant, expected);
  EXPECT_EQ(parse_datetime("2026-07-04T16:38:08.085434+02:00")->instant, expected);
  EXPECT_EQ(parse_datetime("2026-07-04T07:08:08.085434-07:30")->instant, expected);
  EXPECT_EQ(parse_datetime("1969-12-31T23:59:59.5Z")->instant.time_since_epoch().count(), -500000);
}

TEST(ParseDatetime, tells_whether_digits_were_lost) {
  EXPECT_TRUE(parse_datetime("2026-07-04T14:38:08.123456Z")->exact);
  EXPECT_TRUE(parse_datetime("2026-07-04T14:38:08.123456000Z")->exact);
  EXPECT_FALSE(parse_datetime("2026-07-04T14:38:08.1234567Z")->exact);
  EXPECT_FALSE(parse_datetime("2026-07-04T14:38:08.00000000000000000001Z")->exact);
}

TEST(FormatDatetime, is_utc_with_six_digits) {
  EXPECT_EQ(format_datetime(parse_datetime("2026-07-04T16:38:08.5+02:00")->instant),
            "2026-07-04T14:38:08.500000Z");
  EXPECT_EQ(format_datetime(Timestamp()), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_datetime(parse_datetime("0001-01-01T00:00:00Z")->instant),
            "0001-01-01T00:00:00.000000Z");
}

TEST(FormatDatetime, is_read_back) {
  std::mt19937_64 random(20260704);
  const auto first = parse_datetime("0000-01-01T00:00:00Z")->instant.time_since_epoch().count();
  const auto last = parse_datetime("9999-12-31T23:59:59Z")->instant.time_since_epoch().count();
  std::uniform_int_distribution<std::int64_t> micros(first, last);
  for (int i = 0; i < 1000; ++i) {
    const Timestamp instant{std::chrono::microseconds(micros(random))};
    const auto read = parse_datetime(format_datetime(instant));
    ASSERT_TRUE(read) << format_datetime(instant);
    EXPECT_EQ(read->instant, instant);
    EXPECT_TRUE(read->exact);
  }
}

TEST(DurationText, is_as_exact_as_people_need_it) {
  using namespace std::chrono_literals;
  const std::vector<std::pair<std::chrono::seconds, std::string>> cases = {
      {0s, "0 s"},         {119s, "119 s"},         {120s, "2 min"},
      {7'199s, "119 min"}, {12'000s, "3 h 20 min"}, {180'000s, "2 d 2 h"}};
  for (const auto& [duration, text] : cases) EXPECT_EQ(duration_text(duration), text);
}

TEST(SystemClock, does_not_run_behind_the_machine) {
  const auto before =
      std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  EXPECT_GE(system_clock().now(), before);
}

}  // namespace
}  // namespace skua::time_test
