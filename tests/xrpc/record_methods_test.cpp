// The order of record keys. tests/e2e/test_http_records.py has the answers.

#include "xrpc/record_methods.hpp"

#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "atproto/tid.hpp"

namespace skua::xrpc::record_methods_test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string text_of(std::int64_t number) {
  return atproto::Tid{static_cast<std::uint64_t>(number)}.to_string();
}

bool is_in(const TidRange& range, std::int64_t number) {
  return range.first <= number && number <= range.last;
}

void expect_order(const std::string& key, std::int64_t number) {
  const std::string text = text_of(number);
  EXPECT_EQ(is_in(tids_beside(key, false), number), text < key) << text << " " << key;
  EXPECT_EQ(is_in(tids_beside(key, true), number), text > key) << text << " " << key;
}

TEST(TidsBesideTest, all_without_a_key) {
  for (const bool after : {false, true}) {
    EXPECT_EQ(tids_beside(std::nullopt, after).first, 0);
    EXPECT_EQ(tids_beside(std::nullopt, after).last, kMost);
  }
}

TEST(TidsBesideTest, the_numbers_have_the_order_of_the_texts) {
  std::mt19937_64 random(20);
  constexpr std::string_view kLetters = "234567abcdefghijklmnopqrstuvwxyzAZ01-._~:\x7f";
  std::vector<std::int64_t> numbers = {0, 1, 31, 32, kMost - 1, kMost, std::int64_t{1} << 60};
  for (int i = 0; i < 60; ++i) numbers.push_back(static_cast<std::int64_t>(random() >> 1U));
  std::vector<std::string> keys = {"",
                                   "self",
                                   "2",
                                   "b",
                                   "c",
                                   "z",
                                   "zzzzzzzzzzzzz",
                                   "bzzzzzzzzzzzz",
                                   "bzzzzzzzzzzzzz",
                                   "2222222222222",
                                   "22222222222222",
                                   "222222222222",
                                   "a-",
                                   "\xc3\xa9"};
  for (const std::int64_t number : numbers) {
    // The neighbours of a text: itself, its fronts, one more character, and another character.
    const std::string text = text_of(number);
    keys.push_back(text);
    keys.push_back(text + kLetters[random() % kLetters.size()]);
    keys.push_back(text.substr(0, random() % text.size()));
    std::string other = text;
    other[random() % other.size()] = kLetters[random() % kLetters.size()];
    keys.push_back(other);
  }
  for (const std::string& key : keys) {
    for (const std::int64_t number : numbers) expect_order(key, number);
  }
}

}  // namespace
}  // namespace skua::xrpc::record_methods_test
