#include "base/memory_trimmer.hpp"

#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace skua::test::memory_trimmer_test {
namespace {

using namespace std::chrono_literals;

/// Memory of the process that is not a file, in KiB.
std::size_t anonymous_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "RssAnon:") continue;
    std::size_t kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

TEST(MemoryTrimmer, returns_memory_that_is_free_below_a_block_in_use) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has an allocator of its own";
#endif
  constexpr std::size_t kBlocks = 8'192;
  constexpr std::size_t kBlock = 8'192;
  std::vector<std::unique_ptr<char[]>> blocks(kBlocks);
  for (auto& block : blocks) {
    block = std::make_unique<char[]>(kBlock);  // writes zeros
  }
  const std::unique_ptr<char[]> in_use = std::move(blocks.back());
  blocks.clear();
  const std::size_t before = anonymous_memory();
  ASSERT_GE(before, kBlocks * kBlock / 1024) << "malloc returned the memory by itself";

  const MemoryTrimmer trimmer(1ms);
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (anonymous_memory() + kBlocks * kBlock / 1024 * 3 / 4 > before) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace skua::test::memory_trimmer_test
