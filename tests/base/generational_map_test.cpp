#include "base/generational_map.hpp"

#include <malloc.h>
#include <string>

#include <gtest/gtest.h>

namespace skua::test::generational_map_test {
namespace {

TEST(GenerationalMap, keeps_what_is_asked_for) {
  GenerationalMap<int, int> map(100);
  map.insert(-1, 42);
  for (int i = 0; i < 10'000; ++i) {
    map.insert(i, i);
    const int* kept = map.find(-1);
    ASSERT_NE(kept, nullptr) << i;
    EXPECT_EQ(*kept, 42);
    EXPECT_LE(map.size(), 101U);
  }
  EXPECT_EQ(*map.find(9'999), 9'999);
  EXPECT_EQ(map.find(0), nullptr);
  EXPECT_TRUE(map.has_forgotten());
}

TEST(GenerationalMap, keeps_half_of_its_capacity_without_use) {
  GenerationalMap<int, int> map(10);
  for (int i = 0; i < 5; ++i) map.insert(i, i);
  EXPECT_FALSE(map.has_forgotten());
  for (int i = 0; i < 5; ++i) EXPECT_NE(map.find(i), nullptr);
}

TEST(GenerationalMap, the_last_value_counts) {
  GenerationalMap<int, int> map(4);
  map.insert(1, 10);
  map.insert(2, 20);
  map.insert(3, 30);  // 1 and 2 are old now
  map.insert(1, 11);
  EXPECT_EQ(*map.find(1), 11);
  EXPECT_EQ(map.size(), 3U);
}

TEST(GenerationalMap, a_known_key_drops_no_other) {
  GenerationalMap<int, int> map(4);
  map.insert(1, 10);
  map.insert(2, 20);
  for (int i = 0; i < 10; ++i) map.insert(2, i);
  EXPECT_NE(map.find(1), nullptr);
  EXPECT_EQ(map.size(), 2U);
}

TEST(GenerationalMap, an_erased_key_is_not_found_in_either_generation) {
  GenerationalMap<std::string, int> map(4);
  map.insert("old", 1);
  map.insert("b", 2);
  map.insert("young", 3);
  map.erase("old");
  map.erase("young");
  EXPECT_EQ(map.find("old"), nullptr);
  EXPECT_EQ(map.find("young"), nullptr);
  EXPECT_EQ(map.size(), 1U);
}

// A sanitizer has an allocator of its own: the test sees no change there.
TEST(GenerationalMap, after_one_full_generation_it_allocates_and_frees_nothing) {
  constexpr int kCapacity = 100'000;
  const auto allocated = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  GenerationalMap<int, int> map(kCapacity);
  int next = 0;
  while (next <= kCapacity / 2) {
    map.insert(next, next);
    ++next;
  }
  const std::size_t before = allocated();
  for (; next < 6 * kCapacity; ++next) {
    map.insert(next, next);
    map.find(next - kCapacity / 2);
    if (next % 1'000 == 0) {
      ASSERT_EQ(allocated(), before) << next;
    }
  }
}

}  // namespace
}  // namespace skua::test::generational_map_test
