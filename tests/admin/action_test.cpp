#include "admin/action.hpp"

#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::admin::action_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The message of the refusal; empty: the body was accepted.
std::string refusal(Parameter parameter, const std::string& body) {
  try {
    parse_arguments(parameter, body);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.response().status, 400U);
    return refusal.what();
  }
  return {};
}

TEST(ActionTest, each_action_has_a_path_of_its_own) {
  std::set<std::string> paths;
  for (const Action& action : actions()) {
    EXPECT_TRUE(paths.insert(action.path).second) << action.path;
    EXPECT_THAT(action.path, testing::StartsWith("/admin/"));
    EXPECT_NE(action.run, nullptr);
  }
  EXPECT_EQ(paths.size(), actions().size());
}

TEST(ActionTest, a_body_has_the_one_member_of_the_action) {
  EXPECT_EQ(parse_arguments(Parameter::Name, R"({"name":"post_stats"})").name, "post_stats");
  EXPECT_EQ(parse_arguments(Parameter::Did, R"({"did":"did:web:a.test"})").did, "did:web:a.test");
  EXPECT_THAT(parse_arguments(Parameter::Letters, R"({"ids":[7,3,7]})").letters.ids,
              ElementsAre(3, 7));
  for (const char* body : {"", "null", "[]", "{", R"("name")", R"({"name":"a"} x)"}) {
    EXPECT_THAT(refusal(Parameter::Name, body), HasSubstr("not a JSON object")) << body;
  }
  EXPECT_THAT(refusal(Parameter::Name, "{}"), HasSubstr("no member 'name'"));
  EXPECT_THAT(refusal(Parameter::Name, R"({"name":"a","force":true})"),
              HasSubstr("unknown member 'force'"));
  EXPECT_THAT(refusal(Parameter::Letters, R"({"name":"a"})"), HasSubstr("unknown member"));
}

TEST(ActionTest, letters_are_selected_as_in_the_command) {
  const auto letters = [](const char* body) {
    return parse_arguments(Parameter::Letters, body).letters;
  };
  const auto of_lane = letters(R"({"consumer":"search","lane":3,"error":"HTTP"})");
  EXPECT_EQ(of_lane.consumer, "search");
  EXPECT_EQ(of_lane.lane, 3);
  EXPECT_EQ(of_lane.error, "HTTP");
  EXPECT_EQ(letters(R"({"all":true,"did":"did:web:a.test"})").did, "did:web:a.test");
  for (const char* body : {"{}", R"({"did":"did:web:a.test"})", R"({"lane":1,"error":"x"})",
                           R"({"ids":[1],"consumer":"search"})", R"({"ids":[1],"all":true})"}) {
    EXPECT_THAT(refusal(Parameter::Letters, body), HasSubstr("give ids alone, or consumer, or all"))
        << body;
  }
  for (const char* lane : {"-1", "64", "1.5", R"("1")", "18446744073709551615"}) {
    EXPECT_THAT(refusal(Parameter::Letters, fmt::format(R"({{"all":true,"lane":{}}})", lane)),
                HasSubstr("from 0 to 63"))
        << lane;
  }
  EXPECT_THAT(refusal(Parameter::Letters, R"({"all":false})"), HasSubstr("all is true"));
  EXPECT_THAT(refusal(Parameter::Letters, R"({"consumer":""})"), HasSubstr("consumer is a text"));
  EXPECT_THAT(refusal(Parameter::Letters, R"({"all":true,"did":"alice"})"),
              HasSubstr("did is not a DID"));
}

TEST(ActionTest, values_are_checked) {
  for (const char* name : {"1", "null", R"("")", R"("a\u0000b")", "[]"}) {
    EXPECT_THAT(refusal(Parameter::Name, fmt::format(R"({{"name":{}}})", name)),
                HasSubstr("name is a text"))
        << name;
  }
  EXPECT_THAT(refusal(Parameter::Name,
                      fmt::format(R"({{"name":"{}"}})", std::string(kLongestName + 1, 'x'))),
              HasSubstr("name is a text"));
  for (const char* did : {"1", R"("alice.test")", R"("did:plc")", R"("did:web:a b")"}) {
    EXPECT_THAT(refusal(Parameter::Did, fmt::format(R"({{"did":{}}})", did)),
                HasSubstr("did is not a DID"))
        << did;
  }
  for (const char* ids : {"1", "[]", R"(["1"])", "[0]", "[-1]", "[1.5]", "[1,null]",
                          "[18446744073709551615]", "[9223372036854775808]"}) {
    EXPECT_THAT(refusal(Parameter::Letters, fmt::format(R"({{"ids":{}}})", ids)),
                HasSubstr("a list of 1 to 100 numbers"))
        << ids;
  }
}

TEST(ActionTest, a_request_has_at_most_100_letters) {
  std::string ids = "1";
  for (std::size_t i = 1; i < kMostIds; ++i) ids += fmt::format(",{}", i + 1);
  EXPECT_EQ(
      parse_arguments(Parameter::Letters, fmt::format(R"({{"ids":[{}]}})", ids)).letters.ids.size(),
      kMostIds);
  EXPECT_THAT(refusal(Parameter::Letters, fmt::format(R"({{"ids":[{},1]}})", ids)),
              HasSubstr("1 to 100"));
}

TEST(ActionTest, deep_json_is_refused) {
  const std::string deep = std::string(60'000, '[');
  EXPECT_NE(refusal(Parameter::Letters, deep), "");
  EXPECT_NE(refusal(Parameter::Letters,
                    R"({"ids":)" + std::string(30'000, '[') + std::string(30'000, ']') + "}"),
            "");
}

TEST(ActionTest, the_log_gets_the_arguments_without_control_characters) {
  EXPECT_EQ(text_of(Parameter::Letters, {.letters = {.ids = {1, 2}}}), "1,2");
  EXPECT_EQ(text_of(Parameter::Letters, {.letters = {.consumer = "a\nb", .lane = 3}}),
            "consumer a b, lane 3");
  EXPECT_EQ(text_of(Parameter::Letters, {.letters = {.error = "x"}}), "all, error x");
  EXPECT_EQ(text_of(Parameter::Name, {.name = "a\nb"}), "a b");
}

}  // namespace
}  // namespace skua::admin::action_test
