#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace skua {

/// Makes a thread that calls `work` each time `period` has passed since the last call returned. The
/// thread blocks all signals. The destructor of the thread, or a stop request, ends the pause at
/// once; then `work` is not called again.
std::jthread periodic_thread(std::chrono::milliseconds period, std::function<void()> work);

}  // namespace skua
