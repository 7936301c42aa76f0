#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace skua {

/// Crash points are the places at which a test may have the process killed (SIGKILL), to show that
/// nothing is lost there: between a commit and its being known, say. The environment variable
/// `SKUA_CRASH_AT=NAME:N` arms one: the process dies the Nth time that any thread passes it. In
/// production none is armed, and passing one costs a look at a pointer.
struct ArmedCrashPoint {
  std::string name;
  std::atomic<std::int64_t> passes_left;
};

/// The one that the environment arms; null: none. Throws std::runtime_error when the variable is
/// not of that form.
ArmedCrashPoint* armed_crash_point();

[[noreturn]] void crash();

inline void crash_point(std::string_view name) {
  static ArmedCrashPoint* const kArmed = armed_crash_point();
  if (kArmed != nullptr && kArmed->name == name && --kArmed->passes_left == 0) crash();
}

}  // namespace skua
