#include "base/guarded.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skua::guarded_test {
namespace {

TEST(Guarded, counts_right_from_several_threads) {
  Guarded<int> counter(0);
  {
    constexpr int kThreads = 4;
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&counter] {
        for (int i = 0; i < 1000; ++i) counter.with([](int& value) { ++value; });
      });
    }
  }
  const Guarded<int>& read_only = counter;
  EXPECT_EQ(read_only.with([](const int& value) { return value; }), 4000);
}

}  // namespace
}  // namespace skua::guarded_test
