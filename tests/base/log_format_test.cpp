#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "base/problem.hpp"

namespace skua::log_format_test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string line_of(std::string_view message) {
  return json_line({.time = Timestamp(std::chrono::microseconds(1'783'175'888'085'434)),
                    .level = "warn",
                    .component = "store",
                    .message = message});
}

std::string message_of(std::string_view message) {
  const std::string line = line_of(message);
  constexpr std::string_view kKey = R"("message":)";
  const auto begin = line.find(kKey) + kKey.size();
  return line.substr(begin, line.size() - 1 - begin);
}

TEST(JsonLine, has_time_level_component_and_message) {
  EXPECT_EQ(line_of("it is back"),
            R"({"time":"2026-07-04T14:38:08.085Z","level":"warn","component":"store",)"
            R"("message":"it is back"})");
}

TEST(JsonLine, names_the_problem_whose_code_ends_the_message) {
  EXPECT_THAT(line_of(with_code("the server is stopped", problem("database-down"))),
              EndsWith(R"("message":"the server is stopped [database-down]",)"
                       R"("problem":"database-down"})"));
}

TEST(JsonLine, names_no_problem_that_is_not_in_the_list_or_not_at_the_end) {
  EXPECT_THAT(line_of("an array [1]"), Not(HasSubstr("problem")));
  EXPECT_THAT(line_of("it was [database-down] before"), Not(HasSubstr(R"("problem")")));
  EXPECT_THAT(line_of(" []"), Not(HasSubstr("problem")));
  EXPECT_THAT(line_of("]"), Not(HasSubstr("problem")));
  EXPECT_THAT(line_of(""), EndsWith(R"("message":""})"));
}

TEST(JsonLine, escapes_what_a_json_string_may_not_contain) {
  EXPECT_EQ(message_of("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(message_of(std::string("\n\x01\x1f\0", 4)), R"("\u000a\u0001\u001f\u0000")");
}

TEST(JsonLine, keeps_utf8_and_replaces_other_bytes) {
  EXPECT_EQ(message_of("grün 漢 🐦"), R"("grün 漢 🐦")");
  EXPECT_EQ(message_of("\xff"), "\"\ufffd\"");
  // Overlong, a surrogate, and a sequence that is cut off.
  EXPECT_EQ(message_of("\xc0\x80"), "\"\ufffd\ufffd\"");
  EXPECT_EQ(message_of("\xed\xa0\x80"), "\"\ufffd\ufffd\ufffd\"");
  EXPECT_EQ(message_of("x\xf0\x9f\x90"), "\"x\ufffd\ufffd\ufffd\"");
}

TEST(JsonLine, a_time_before_1970_rounds_down) {
  const std::string line = json_line({.time = Timestamp(std::chrono::microseconds(-1))});
  EXPECT_THAT(line, HasSubstr(R"("time":"1969-12-31T23:59:59.999Z")"));
}

TEST(SetLogFormat, takes_its_two_words_only) {
  for (const char* word : {"", "JSON", "logfmt"}) EXPECT_FALSE(set_log_format(word)) << word;
  EXPECT_TRUE(set_log_format("json"));
  EXPECT_TRUE(set_log_format("text"));
}

TEST(SetLogFormat, changes_the_lines_of_present_and_future_loggers) {
  logger("log_format_test.present");
  ASSERT_TRUE(set_log_format("json"));
  testing::internal::CaptureStderr();
  logger("log_format_test.present")->warn("one \"{}\"", 1);
  logger("log_format_test.future")->error("{}", with_code("two", problem("disk-full")));
  ASSERT_TRUE(set_log_format("text"));
  logger("log_format_test.future")->warn("three");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr(R"("level":"warn","component":"log_format_test.present",)"
                             R"("message":"one \"1\""})"
                             "\n{"));
  EXPECT_THAT(log, HasSubstr(R"("level":"error","component":"log_format_test.future",)"
                             R"("message":"two [disk-full]","problem":"disk-full"})"
                             "\n"));
  EXPECT_THAT(log, HasSubstr("Z warning log_format_test.future: three\n"));
}

TEST(WithCode, keeps_the_code_of_a_long_detail_within_the_longest_message) {
  const std::string long_detail(5'000, 'x');
  testing::internal::CaptureStderr();
  logger("log_format_test.long")->warn("{}", with_code(long_detail, problem("disk-full")));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), EndsWith("x [disk-full]\n"));
}

}  // namespace
}  // namespace skua::log_format_test
