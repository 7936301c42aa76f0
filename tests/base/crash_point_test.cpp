#include "base/crash_point.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <gtest/gtest.h>

namespace skua::crash_point_test {
namespace {

/// Death tests run their statement in a process of its own: what they arm there is armed nowhere
/// else.
void pass(const char* armed, std::string_view name, int times) {
  ::setenv("SKUA_CRASH_AT", armed, 1);
  for (int i = 0; i < times; ++i) crash_point(name);
  std::_Exit(0);
}

TEST(CrashPointDeathTest, kills_the_process_at_the_pass_it_was_told) {
  EXPECT_EXIT(pass("here:3", "here", 3), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(pass("here:3", "here", 2), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(pass("here:1", "there", 5), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(pass("", "here", 5), testing::ExitedWithCode(0), "");
}

TEST(CrashPoint, refuses_what_it_cannot_read) {
  for (const char* text : {"here", "here:", "here:0", "here:x", ":"}) {
    ::setenv("SKUA_CRASH_AT", text, 1);
    EXPECT_THROW(armed_crash_point(), std::runtime_error) << text;
  }
  ::unsetenv("SKUA_CRASH_AT");
  EXPECT_EQ(armed_crash_point(), nullptr);
}

}  // namespace
}  // namespace skua::crash_point_test
