#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace skua::number_text_test {
namespace {

TEST(WithCommas, sets_thousands_apart) {
  const std::vector<std::pair<std::int64_t, std::string>> cases = {
      {0, "0"},       {999, "999"},       {1'000, "1,000"},
      {-999, "-999"}, {-1'000, "-1,000"}, {1234567, "1,234,567"}};
  for (const auto& [number, text] : cases) EXPECT_EQ(with_commas(number), text);
}

}  // namespace
}  // namespace skua::number_text_test
