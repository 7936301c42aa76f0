#pragma once

#include <chrono>
#include <thread>

namespace skua {

/// Returns free memory to the system, once a minute. glibc's malloc keeps freed memory in arenas,
/// one for a few threads each, and returns by itself only what is free at the end of an arena. With
/// many threads the kept memory grows for hours. A thread of its own. One a process, made in main.
class MemoryTrimmer {
 public:
  explicit MemoryTrimmer(std::chrono::milliseconds every = std::chrono::minutes(1));

 private:
  /// Its destructor stops it.
  std::jthread thread_;
};

}  // namespace skua
