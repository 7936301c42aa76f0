#include "base/log.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skua::log_test {
namespace {

TEST(Logger, IsMadeOnceAComponent) {
  EXPECT_EQ(logger("log_test.one"), logger("log_test.one"));
  EXPECT_NE(logger("log_test.one"), logger("log_test.two"));
  EXPECT_EQ(logger("log_test.one")->name(), "log_test.one");
}

TEST(SetLogLevel, ReachesPresentAndFutureLoggers) {
  const auto present = logger("log_test.present");
  ASSERT_TRUE(set_log_level("error"));
  EXPECT_EQ(present->level(), spdlog::level::err);
  EXPECT_EQ(logger("log_test.future")->level(), spdlog::level::err);
  ASSERT_TRUE(set_log_level("info"));
  EXPECT_EQ(present->level(), spdlog::level::info);
}

TEST(SetLogLevel, TakesItsSixWordsOnly) {
  for (const char* word : {"trace", "debug", "warn", "error", "off", "info"}) {
    EXPECT_TRUE(set_log_level(word)) << word;
  }
  for (const char* word : {"", "verbose", "INFO", "critical"}) {
    EXPECT_FALSE(set_log_level(word)) << word;
  }
}

TEST(SetLogFrame, IsCalledAroundEachLineUntilItIsTakenAway) {
  std::string calls;
  set_log_frame([&] { calls += '<'; }, [&] { calls += '>'; });
  logger("log_test.framed")->error("one");
  logger("log_test.framed")->error("two");
  logger("log_test.framed")->trace("not written");
  set_log_frame({}, {});
  logger("log_test.framed")->error("three");
  EXPECT_EQ(calls, "<><>");
}

}  // namespace
}  // namespace skua::log_test
