#include "stop_signal.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

namespace skua::cli {
namespace {

/// One Ctrl-C comes twice when the terminal sends it to all and a script passes it on.
constexpr std::chrono::seconds kSameMoment{1};

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

/// False: none came in that time.
bool wait_for_signal(std::chrono::milliseconds time) {
  const sigset_t set = stop_signals();
  const auto until = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left = std::max(std::chrono::nanoseconds(until - std::chrono::steady_clock::now()),
                               std::chrono::nanoseconds(0));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    timespec limit{};
    limit.tv_sec = seconds.count();
    limit.tv_nsec = std::chrono::nanoseconds(left - seconds).count();
    if (sigtimedwait(&set, nullptr, &limit) > 0) return true;
    // A debugger or a leak check that stops the thread for a moment is no end of the time.
    if (errno != EINTR) return false;
  }
}

}  // namespace

StopSignal::StopSignal() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A relay or a database that closes its end must be an error code, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
}

bool StopSignal::wait_for(std::chrono::milliseconds time) {
  if (!asked_) asked_ = wait_for_signal(time);
  return asked_;
}

void StopSignal::end_at_once_after(std::chrono::seconds limit) {
  std::thread([limit] {
    const auto moment = std::chrono::steady_clock::now() + kSameMoment;
    for (auto now = moment - kSameMoment; now < moment; now = std::chrono::steady_clock::now()) {
      wait_for_signal(std::chrono::ceil<std::chrono::milliseconds>(moment - now));
    }
    if (wait_for_signal(limit - kSameMoment)) {
      std::fputs("skua: stopped at once; the next start repeats what was not saved\n", stderr);
    } else {
      std::fputs(
          "skua: the database did not answer in time; stopped without saving the cursor, "
          "the next start repeats from the one before\n",
          stderr);
    }
    std::_Exit(1);
  }).detach();
}

}  // namespace skua::cli
