#include "base/periodic_thread.hpp"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <stop_token>
#include <utility>

namespace skua {

std::jthread periodic_thread(std::chrono::milliseconds period, std::function<void()> work) {
  return std::jthread([period, work = std::move(work)](const std::stop_token& stop) {
    // Blocks all signals, because other threads wait for them.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait_for(lock, stop, period, [] { return false; });
      if (stop.stop_requested()) return;
      work();
    }
  });
}

}  // namespace skua
