#include "command_line/completion.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line/small_program.hpp"

namespace skua::command_line {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Completion completion(const std::vector<std::string>& words) {
  const test::SmallProgram program;
  return complete(program.app, words);
}

std::vector<std::string> texts(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const auto& candidate : completion(words).candidates) all.push_back(candidate.text);
  return all;
}

TEST(Completion, commands_by_their_beginning) {
  EXPECT_THAT(texts({""}), ElementsAre("copy", "fetch", "group", "help"));
  EXPECT_THAT(texts({}), ElementsAre("copy", "fetch", "group", "help"));
  EXPECT_THAT(texts({"f"}), ElementsAre("fetch"));
  EXPECT_THAT(texts({"group", ""}), ElementsAre("show"));
  EXPECT_THAT(texts({"fetch", "s"}), ElementsAre("status"));
  EXPECT_THAT(texts({"nonsense", "s"}), IsEmpty());
}

TEST(Completion, options_of_the_command_and_of_those_above_it) {
  EXPECT_THAT(texts({"copy", "--"}),
              ElementsAre("--help", "--mode", "--into", "--car", "--config", "--quiet"));
  EXPECT_THAT(texts({"copy", "--mo"}), ElementsAre("--mode"));
  EXPECT_THAT(texts({"--c"}), ElementsAre("--config"));
}

TEST(Completion, values_of_an_option_by_its_type) {
  EXPECT_THAT(texts({"copy", "--mode", ""}), ElementsAre("fast", "safe"));
  EXPECT_THAT(texts({"copy", "--mode", "s"}), ElementsAre("safe"));
  EXPECT_THAT(texts({"copy", "--mode=f"}), ElementsAre("--mode=fast"));
  EXPECT_EQ(completion({"copy", "--into", ""}).paths, Completion::Paths::Directories);
  EXPECT_EQ(completion({"--config", "a"}).paths, Completion::Paths::Files);
  EXPECT_THAT(texts({"copy", "--into", ""}), IsEmpty());
}

TEST(Completion, an_option_with_several_values_offers_files_after_the_first) {
  EXPECT_EQ(completion({"copy", "--car", "a.car", ""}).paths, Completion::Paths::Files);
  EXPECT_THAT(texts({"copy", "--car", "a.car", "--m"}), ElementsAre("--mode"));
}

TEST(Completion, arguments_by_their_names) {
  EXPECT_EQ(completion({"copy", ""}).paths, Completion::Paths::Files);
  EXPECT_EQ(completion({"copy", "a", ""}).paths, Completion::Paths::None);
}

TEST(Completion, arguments_by_the_values_that_the_program_knows) {
  const test::SmallProgram program;
  const auto known = [](const CLI::App& command, const CLI::Option& argument) {
    return std::vector<Completion::Candidate>{
        {command.get_name() + "-" + argument.get_name(true), "A value"}, {"other", ""}};
  };
  const auto texts_of = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all;
    for (const auto& each : complete(program.app, words, known).candidates)
      all.push_back(each.text);
    return all;
  };
  EXPECT_THAT(texts_of({"copy", "a", ""}), ElementsAre("copy-TARGET", "other"));
  EXPECT_THAT(texts_of({"copy", "a", "o"}), ElementsAre("other"));
  EXPECT_THAT(texts_of({"fetch", ""}), ElementsAre("status", "cancel", "fetch-WHO", "other"));
  EXPECT_THAT(texts_of({"copy", "--mode", "f"}), ElementsAre("fast"));
  EXPECT_THAT(texts_of({"help", "help-"}), ElementsAre("help-COMMAND"));
  EXPECT_THAT(texts_of({"help", "fetch", ""}), ElementsAre("status", "cancel"));
}

TEST(Completion, after_two_dashes_no_options) {
  EXPECT_THAT(texts({"copy", "--", "--"}), IsEmpty());
}

TEST(Completion, help_takes_commands) {
  EXPECT_THAT(texts({"help", "g"}), ElementsAre("group"));
  EXPECT_THAT(texts({"help", "fetch", ""}), ElementsAre("status", "cancel"));
  EXPECT_THAT(texts({"help", "nonsense", ""}), IsEmpty());
}

TEST(Completion, as_the_scripts_read_it) {
  EXPECT_EQ(completion_text(completion({"f"})), "fetch\tFetches\n");
  EXPECT_EQ(completion_text(completion({"copy", ""})), ":files\n");
  EXPECT_EQ(completion_text(completion({"copy", "--into", ""})), ":directories\n");
}

TEST(Completion, scripts_are_for_the_program) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell, "two-words");
    ASSERT_TRUE(script) << shell;
    EXPECT_NE(script->find("two-words"), std::string::npos);
    EXPECT_NE(script->find("_two_words"), std::string::npos);
    EXPECT_EQ(script->find("@P@"), std::string::npos);
  }
  EXPECT_FALSE(completion_script("tcsh", "program"));
}

}  // namespace
}  // namespace skua::command_line
