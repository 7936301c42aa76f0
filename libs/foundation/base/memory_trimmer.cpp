#include "base/memory_trimmer.hpp"

#include <chrono>
#include <malloc.h>

#include "base/log.hpp"
#include "base/periodic_thread.hpp"

namespace skua {

MemoryTrimmer::MemoryTrimmer(std::chrono::milliseconds every)
    : thread_(periodic_thread(every, [] {
        const auto begin = std::chrono::steady_clock::now();
        malloc_trim(0);
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        logger("memory")->debug("returned free memory to the system in {:.1f} ms", took.count());
      })) {}

}  // namespace skua
