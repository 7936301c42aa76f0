#include "base/crash_point.hpp"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace skua {

ArmedCrashPoint* armed_crash_point() {
  const char* variable = std::getenv("SKUA_CRASH_AT");
  if (variable == nullptr || *variable == '\0') return nullptr;
  const std::string_view text = variable;
  const auto colon = text.find(':');
  std::int64_t passes = 0;
  if (colon != std::string_view::npos) {
    const std::string_view number = text.substr(colon + 1);
    std::from_chars(number.data(), number.data() + number.size(), passes);
  }
  if (passes <= 0) throw std::runtime_error("SKUA_CRASH_AT is to be NAME:N with N above 0");
  // Never deleted: a crash point is needed until the process is killed.
  static ArmedCrashPoint armed{std::string(text.substr(0, colon)), {passes}};
  return &armed;
}

void crash() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

}  // namespace skua
