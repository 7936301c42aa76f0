#pragma once

#include <chrono>
#include <memory>

namespace skua::cli {

/// Waits for Ctrl-C and SIGTERM without a signal handler. Must be constructed before any thread
/// starts, because threads inherit the mask. One per process, used by the main thread.
///
/// After the first signal the process ends within 28 s, even if a thread is blocked, for example
/// because the database neither answers nor disconnects. A second signal ends it at once. The exit
/// code is then 1: the database has all committed data, and the next start repeats the rest.
class StopSignal {
 public:
  StopSignal();

  /// Waits at most for `time`. Returns true if the user requested a stop, or the reader of stdout
  /// has gone.
  bool wait_for(std::chrono::milliseconds time);

  /// Applies the limit of 28 s from now on to an end without a signal.
  void limit_the_end();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace skua::cli
