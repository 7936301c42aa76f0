#include "base/memory_trimmer.hpp"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <malloc.h>
#include <mutex>
#include <pthread.h>
#include <stop_token>

#include "base/log.hpp"

namespace skua {

MemoryTrimmer::MemoryTrimmer(std::chrono::milliseconds every)
    : thread_([every](const std::stop_token& stop) {
        // Signals are for the threads that wait for them.
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        for (;;) {
          wake.wait_for(lock, stop, every, [] { return false; });
          if (stop.stop_requested()) return;
          const auto begin = std::chrono::steady_clock::now();
          malloc_trim(0);
          const std::chrono::duration<double, std::milli> took =
              std::chrono::steady_clock::now() - begin;
          logger("memory")->debug("returned free memory to the system in {:.1f} ms", took.count());
        }
      }) {}

}  // namespace skua
