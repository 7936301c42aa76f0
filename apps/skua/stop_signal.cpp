#include "stop_signal.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "command_line/finish.hpp"

namespace skua::cli {
namespace {

/// Two signals within this time count as one, because a single Ctrl-C may arrive twice: from the
/// terminal, and from a script that forwards it.
constexpr std::chrono::seconds kSameMoment{1};
/// The process ends itself after this time, because a stop must take at most 30 s.
constexpr std::chrono::seconds kLimit{28};
constexpr std::chrono::hours kLong{1};

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

/// Waits for a signal. Returns false if none came within `time`.
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
    // A debugger or a leak check may interrupt the thread; the wait then continues.
    if (errno != EINTR) return false;
  }
}

[[noreturn]] void end_at_once(const char* message) {
  std::fputs(message, stderr);
  std::_Exit(1);
}

}  // namespace

class StopSignal::State {
 public:
  void ask() {
    const std::scoped_lock lock(mutex_);
    asked_ = true;
    asking_.notify_all();
  }
  bool wait_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return asking_.wait_for(lock, time, [this] { return asked_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable asking_;
  bool asked_ = false;
};

StopSignal::StopSignal() : state_(std::make_shared<State>()) {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // If a relay or a database closes its end, a write must fail with an error code and must not end
  // the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::thread([state = state_] {
    while (!wait_for_signal(kLong)) {
    }
    state->ask();
    const auto moment = std::chrono::steady_clock::now() + kSameMoment;
    for (auto now = moment - kSameMoment; now < moment; now = std::chrono::steady_clock::now()) {
      wait_for_signal(std::chrono::ceil<std::chrono::milliseconds>(moment - now));
    }
    if (wait_for_signal(kLimit - kSameMoment)) {
      end_at_once("skua: stopped at once; the next start repeats unsaved work\n");
    }
    end_at_once(
        "skua: it did not end in time (does the database answer?), stopped at once; the next start "
        "repeats unsaved work\n");
  }).detach();
}

bool StopSignal::wait_for(std::chrono::milliseconds time) {
  return state_->wait_for(time) || command_line::output_failed();
}

void StopSignal::limit_the_end() {
  // A process that received a stop signal is already ending, so no signal is sent.
  if (!state_->wait_for(std::chrono::milliseconds(0))) ::kill(::getpid(), SIGTERM);
}

}  // namespace skua::cli
