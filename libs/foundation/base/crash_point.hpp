#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace skua {

/// A crash point is a place at which a test can have the process killed (SIGKILL), for example
/// between a commit and its acknowledgement, to show that the program loses nothing there. The
/// environment variable `SKUA_CRASH_AT=NAME:N` arms one crash point: the process dies when a thread
/// passes it for the Nth time. In production no crash point is armed, and passing one only reads a
/// pointer.
struct ArmedCrashPoint {
  std::string name;
  std::atomic<std::int64_t> passes_left;
};

/// Returns the crash point that the environment arms, or null. Throws std::runtime_error if the
/// variable has another form.
ArmedCrashPoint* armed_crash_point();

[[noreturn]] void crash();

inline void crash_point(std::string_view name) {
  static ArmedCrashPoint* const kArmed = armed_crash_point();
  if (kArmed != nullptr && kArmed->name == name && --kArmed->passes_left == 0) crash();
}

}  // namespace skua
