#include "base/problem.hpp"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

namespace skua::problem_test {
namespace {

TEST(Problem, codes_are_unique_and_can_be_anchors) {
  for (const Problem& each : kProblems) {
    EXPECT_EQ(std::ranges::count(kProblems, each.code, &Problem::code), 1) << each.code;
    EXPECT_TRUE(std::ranges::all_of(each.code, [](char c) {
      return c == '-' || (c >= 'a' && c <= 'z');
    })) << each.code;
    EXPECT_FALSE(each.title.ends_with('.')) << each.code;
    EXPECT_TRUE(each.cause.ends_with('.')) << each.code;
    EXPECT_TRUE(each.cure.ends_with('.')) << each.code;
  }
}

TEST(Problem, is_found_by_its_code) {
  static_assert(problem("disk-full").code == "disk-full");
  ASSERT_NE(find_problem("disk-full"), nullptr);
  EXPECT_EQ(find_problem("disk-full")->title, problem("disk-full").title);
  EXPECT_EQ(find_problem("disk"), nullptr);
  EXPECT_EQ(with_code("could not extend file", problem("disk-full")),
            "could not extend file [disk-full]");
}

}  // namespace
}  // namespace skua::problem_test
