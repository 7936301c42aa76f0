#pragma once

#include <chrono>
#include <thread>

namespace skua {

/// Returns free memory to the system once a minute. glibc's malloc keeps freed memory in arenas,
/// one for a few threads each, and by itself returns only the free memory at the end of an arena.
/// With many threads the kept memory grows for hours. The trimmer has a thread of its own. A
/// process makes one trimmer, in main.
class MemoryTrimmer {
 public:
  explicit MemoryTrimmer(std::chrono::milliseconds every = std::chrono::minutes(1));

 private:
  /// The destructor of the thread stops it.
  std::jthread thread_;
};

}  // namespace skua
