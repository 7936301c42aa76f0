#pragma once

#include <chrono>

namespace skua::cli {

/// Ctrl-C and SIGTERM, taken by waiting for them rather than by a handler. Construct it before any
/// thread starts: threads inherit the mask. One a process, used by the main thread.
class StopSignal {
 public:
  StopSignal();

  /// Waits at most so long. True: the user asked to stop.
  bool wait_for(std::chrono::milliseconds time);

  /// From a moment on a second signal, or the end of `limit` (more than a second), ends the process
  /// at once with exit code 1: the database keeps what is committed, the next start repeats the
  /// rest.
  void end_at_once_after(std::chrono::seconds limit);

 private:
  bool asked_ = false;
};

}  // namespace skua::cli
