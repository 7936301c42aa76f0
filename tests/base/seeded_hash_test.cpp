#include "base/seeded_hash.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::seeded_hash_test {
namespace {

constexpr std::uint64_t kKeys = 20'000;

/// How many values the 12 bits from `shift` on take in these hashes.
std::size_t values_of_bits(const std::vector<std::size_t>& hashes, unsigned shift) {
  std::vector<bool> seen(4096);
  for (const std::size_t hash : hashes) seen[hash >> shift & 0xfffU] = true;
  return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

struct Family {
  const char* name;
  std::function<std::size_t(std::uint64_t)> hash;
};

/// Keys that a hash without a seed, or one that does not mix all bits, puts into one place.
std::vector<Family> families() {
  return {
      {"low_bits_of_the_first_word", [](auto i) { return seeded_hash(i, 0); }},
      {"high_bits_of_the_first_word", [](auto i) { return seeded_hash(i << 48U, 0); }},
      {"low_bits_of_the_second_word", [](auto i) { return seeded_hash(0, i); }},
      {"high_bits_of_the_second_word", [](auto i) { return seeded_hash(0, i << 48U); }},
      {"words_whose_exclusive_or_is_one_number",
       [](auto i) { return seeded_hash(0x1234567 ^ i << 3U, i); }},
      {"text", [](auto i) { return seeded_hash("did:web:" + std::to_string(i)); }},
      {"text_whose_end_differs",
       [](auto i) { return seeded_hash(std::string(100, 'a') + std::to_string(i)); }},
      {"text_whose_length_differs", [](auto i) { return seeded_hash(std::string(i % 4096, 'a')); }},
  };
}

class SeededHashOf : public testing::TestWithParam<Family> {};

TEST_P(SeededHashOf, spreads_over_all_bits) {
  std::vector<std::size_t> hashes;
  for (std::uint64_t i = 0; i < kKeys; ++i) hashes.push_back(GetParam().hash(i));
  // 20,000 random hashes leave about 31 of 4,096 places empty, 4,096 of them about 1,507.
  const bool has_few_keys = std::string_view(GetParam().name) == "text_whose_length_differs";
  for (unsigned shift = 0; shift <= 52; shift += 4) {
    EXPECT_GT(values_of_bits(hashes, shift), has_few_keys ? 2300U : 3950U) << shift;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, SeededHashOf, testing::ValuesIn(families()),
                         [](const auto& test) { return test.param.name; });

TEST(SeededHash, equal_text_has_equal_hashes) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string one(size, 'x');
    const std::string other(size, 'x');
    EXPECT_EQ(SeededHash()(one), SeededHash()(other));
    EXPECT_NE(SeededHash()(one), SeededHash()(one + '\0'));
  }
}

TEST(SeededHash, each_draw_is_another) {
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 10; ++i) {
    const auto drawn = seeded_hash_detail::Seeds::draw();
    seeds.insert({drawn.first, drawn.second});
  }
  EXPECT_EQ(seeds.size(), 20U);
}

}  // namespace
}  // namespace skua::seeded_hash_test
