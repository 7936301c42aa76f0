#include "base/log.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>

namespace skua::log_test {
namespace {

TEST(Logger, is_made_once_a_component) {
  EXPECT_EQ(logger("log_test.one"), logger("log_test.one"));
  EXPECT_NE(logger("log_test.one"), logger("log_test.two"));
  EXPECT_EQ(logger("log_test.one")->name(), "log_test.one");
}

TEST(SetLogLevel, reaches_present_and_future_loggers) {
  const auto present = logger("log_test.present");
  ASSERT_TRUE(set_log_level("error"));
  EXPECT_EQ(present->level(), spdlog::level::err);
  EXPECT_EQ(logger("log_test.future")->level(), spdlog::level::err);
  ASSERT_TRUE(set_log_level("info"));
  EXPECT_EQ(present->level(), spdlog::level::info);
}

TEST(SetLogLevel, takes_its_six_words_only) {
  for (const char* word : {"trace", "debug", "warn", "error", "off", "info"}) {
    EXPECT_TRUE(set_log_level(word)) << word;
  }
  for (const char* word : {"", "verbose", "INFO", "critical"}) {
    EXPECT_FALSE(set_log_level(word)) << word;
  }
}

TEST(SetLogFrame, is_called_around_each_line_until_it_is_taken_away) {
  std::string calls;
  set_log_frame([&] { calls += '<'; }, [&] { calls += '>'; });
  logger("log_test.framed")->error("one");
  logger("log_test.framed")->error("two");
  logger("log_test.framed")->trace("not written");
  set_log_frame({}, {});
  logger("log_test.framed")->error("three");
  EXPECT_EQ(calls, "<><>");
}

TEST(Logger, writes_a_repeated_warning_once_and_its_number_at_the_end) {
  int lines = 0;
  set_log_frame([&] { ++lines; }, {});
  {
    const LogSummaries summaries;
    for (int i = 0; i < 1'000; ++i) logger("log_test.repeated")->warn("{} is down", "it");
    EXPECT_EQ(lines, 1);
  }
  set_log_frame({}, {});
  EXPECT_EQ(lines, 2);
}

TEST(Logger, bounds_warnings_that_differ_only_by_their_arguments) {
  int lines = 0;
  set_log_frame([&] { ++lines; }, {});
  {
    const LogSummaries summaries;
    for (int i = 0; i < 1'000; ++i) logger("log_test.many")->warn("seq={}: bad", i);
  }
  set_log_frame({}, {});
  EXPECT_EQ(lines, 11);
}

TEST(Logger, shows_what_the_network_said_without_obeying_it) {
  std::vector<std::string> lines;
  class Sink final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    explicit Sink(std::vector<std::string>& lines) : lines_(lines) {}

   protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
      lines_.emplace_back(message.payload.data(), message.payload.size());
    }
    void flush_() override {}

   private:
    std::vector<std::string>& lines_;
  };
  const auto log = logger("log_test.hostile");
  log->sinks() = {std::make_shared<Sink>(lines)};
  log->warn("{}", "two\nlines \x1b[2J");
  log->warn("{}", std::string(1'000'000, 'x'));
  log->sinks().clear();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "two lines ?[2J");
  EXPECT_EQ(lines[1].size(), 1'000U);
}

}  // namespace
}  // namespace skua::log_test
