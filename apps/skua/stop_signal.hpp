#pragma once

#include <chrono>
#include <memory>

namespace skua::cli {

/// Ctrl-C and SIGTERM, taken by waiting for them rather than by a handler. Construct it before any
/// thread starts: threads inherit the mask. One a process, used by the main thread.
///
/// From the first signal on the process ends within 28 s, whatever any of its threads waits for,
/// also when its database neither answers nor hangs up; a second signal ends it at once. The exit
/// code is 1 then: the database keeps what is committed, the next start repeats the rest.
class StopSignal {
 public:
  StopSignal();

  /// Waits at most so long. True: the user asked to stop, or nobody reads stdout any more.
  bool wait_for(std::chrono::milliseconds time);

  /// The same limit for an end that nobody asked for, from now on.
  void limit_the_end();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace skua::cli
