#include <array>

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace skua::error_category_test {
namespace {

enum class Fruit { apple = 1, pear, plum };

constexpr auto kAll = std::to_array<ErrorText<Fruit>>(
    {{Fruit::apple, "an apple"}, {Fruit::pear, "a pear"}, {Fruit::plum, "a plum"}});
constexpr auto kTwo =
    std::to_array<ErrorText<Fruit>>({{Fruit::apple, "an apple"}, {Fruit::pear, "a pear"}});
constexpr auto kExchanged = std::to_array<ErrorText<Fruit>>(
    {{Fruit::pear, "a pear"}, {Fruit::apple, "an apple"}, {Fruit::plum, "a plum"}});
constexpr auto kDoubled = std::to_array<ErrorText<Fruit>>(
    {{Fruit::apple, "an apple"}, {Fruit::apple, "a pear"}, {Fruit::plum, "a plum"}});
constexpr auto kWithoutFirst =
    std::to_array<ErrorText<Fruit>>({{Fruit::pear, "a pear"}, {Fruit::plum, "a plum"}});

static_assert(is_complete<kAll>());
static_assert(!is_complete<kTwo>());
static_assert(!is_complete<kExchanged>());
static_assert(!is_complete<kDoubled>());
static_assert(!is_complete<kWithoutFirst>());

TEST(ErrorCategory, has_the_texts_of_its_table) {
  const ErrorCategory<kAll> category("fruit");
  EXPECT_STREQ(category.name(), "fruit");
  EXPECT_EQ(category.message(static_cast<int>(Fruit::apple)), "an apple");
  EXPECT_EQ(category.message(static_cast<int>(Fruit::plum)), "a plum");
  const boost::system::error_code error(static_cast<int>(Fruit::pear), category);
  EXPECT_TRUE(error.failed());
  EXPECT_EQ(error.message(), "a pear");
}

TEST(ErrorCategory, has_a_text_for_numbers_that_are_no_errors) {
  const ErrorCategory<kAll> category("fruit");
  for (const int value : {-1, 0, 4, 1'000'000}) EXPECT_EQ(category.message(value), "unknown error");
}

TEST(ErrorCategory, is_not_equal_to_another_one_of_the_same_numbers) {
  const ErrorCategory<kAll> one("one");
  const ErrorCategory<kAll> other("other");
  EXPECT_EQ(boost::system::error_code(1, one), boost::system::error_code(1, one));
  EXPECT_NE(boost::system::error_code(1, one), boost::system::error_code(1, other));
}

}  // namespace
}  // namespace skua::error_category_test
