#include "atproto/tid.hpp"

#include <random>

#include <gtest/gtest.h>

#include "atproto/errc.hpp"
#include "support/test_vectors.hpp"

namespace skua::atproto::tid_test {
namespace {

using test::LineVector;

class ValidTid : public testing::TestWithParam<LineVector> {};

TEST_P(ValidTid, round_trips) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const auto tid = Tid::parse(GetParam().text);
  ASSERT_TRUE(tid);
  EXPECT_EQ(tid->to_string(), GetParam().text);
}

class InvalidTid : public testing::TestWithParam<LineVector> {};

TEST_P(InvalidTid, is_refused) {
  if (!GetParam().available) SKUA_NEED_SHARED();
  const auto tid = Tid::parse(GetParam().text);
  ASSERT_FALSE(tid);
  EXPECT_EQ(tid.error(), errc::bad_tid);
}

INSTANTIATE_TEST_SUITE_P(
    Interop, ValidTid, testing::ValuesIn(test::shared_lines("interop/syntax/tid_syntax_valid.txt")),
    test::NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, ValidTid,
                         testing::ValuesIn(test::own_lines({"2222222222222", "jzzzzzzzzzzzz",
                                                            "3k2yihcrnxd2x", "ceeeeeeeeeeee"})),
                         test::NameOfLine());
INSTANTIATE_TEST_SUITE_P(
    Interop, InvalidTid,
    testing::ValuesIn(test::shared_lines("interop/syntax/tid_syntax_invalid.txt")),
    test::NameOfLine());
INSTANTIATE_TEST_SUITE_P(Own, InvalidTid,
                         testing::ValuesIn(test::own_lines({"k222222222222", "222222222222",
                                                            "22222222222222", "3k2yihcrnxd2X",
                                                            "3k2yihcrnxd21", "3k2yihcrnxd2 "})),
                         test::NameOfLine());

TEST(Tid, spans_all64_bits) {
  EXPECT_EQ(Tid::parse("2222222222222")->value, 0U);
  EXPECT_EQ(Tid::parse("jzzzzzzzzzzzz")->value, ~std::uint64_t{0});
  EXPECT_EQ(Tid::parse("2222222222223")->value, 1U);
  EXPECT_EQ(Tid::parse("222222222223z")->value, 63U);
}

TEST(Tid, knows_whether_it_fits_int8) {
  EXPECT_TRUE(Tid::parse("bzzzzzzzzzzzz")->fits_int8());
  EXPECT_FALSE(Tid::parse("c222222222222")->fits_int8());
}

TEST(Tid, keeps_time_and_clock) {
  const Timestamp time = parse_datetime("2026-07-04T14:38:08.085434Z")->instant;
  const Tid tid = Tid::from_time(time, 1023);
  EXPECT_EQ(tid.time(), time);
  EXPECT_EQ(tid.value & 1023U, 1023U);
  EXPECT_EQ(Tid::from_time(time, 1024).value & 1023U, 0U);
}

TEST(Tid, sorts_as_its_text) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const Tid a{random()};
    const Tid b{random()};
    EXPECT_EQ(a < b, a.to_string() < b.to_string());
    EXPECT_EQ(*Tid::parse(a.to_string()), a);
  }
}

}  // namespace
}  // namespace skua::atproto::tid_test
