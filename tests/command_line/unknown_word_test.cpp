#include "command_line/unknown_word.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line/small_program.hpp"

namespace skua::command_line {
namespace {

std::string problem(const std::vector<std::string>& words) {
  const test::SmallProgram program;
  return unknown_word(program.app, words).value_or("");
}

TEST(UnknownWord, names_the_command_that_was_meant) {
  EXPECT_EQ(problem({"cpoy"}), "unknown command 'cpoy'; did you mean 'copy'?");
  EXPECT_EQ(problem({"group", "shwo"}),
            "unknown command 'shwo'; did you mean 'program group show'?");
  EXPECT_EQ(problem({"--quiet", "cop"}), "unknown command 'cop'; did you mean 'copy'?");
}

TEST(UnknownWord, says_where_commands_are_listed_when_none_is_near) {
  EXPECT_EQ(problem({"nonsense"}), "unknown command 'nonsense'; `program --help` lists them");
  EXPECT_EQ(problem({"group", "nonsense"}),
            "unknown command 'nonsense'; `program group --help` lists them");
}

TEST(UnknownWord, never_names_what_help_does_not_list) {
  EXPECT_EQ(problem({"secre"}), "unknown command 'secre'; `program --help` lists them");
  EXPECT_EQ(problem({"copy", "--sped"}),
            "unknown option '--sped'; `program copy --help` lists them");
}

TEST(UnknownWord, names_the_option_that_was_meant_also_of_a_command_above) {
  EXPECT_EQ(problem({"copy", "--moed=fast"}), "unknown option '--moed'; did you mean '--mode'?");
  EXPECT_EQ(problem({"copy", "a", "b", "--confg", "x"}),
            "unknown option '--confg'; did you mean '--config'?");
  EXPECT_EQ(problem({"fetch", "--mode", "fast"}),
            "unknown option '--mode'; `program fetch --help` lists them");
  EXPECT_EQ(problem({"copy", "-x"}), "unknown option '-x'; `program copy --help` lists them");
}

TEST(UnknownWord, a_mistyped_subcommand_is_not_taken_for_an_account) {
  EXPECT_EQ(problem({"fetch", "statsu"}),
            "unknown command 'statsu'; did you mean 'program fetch status'?");
  EXPECT_EQ(problem({"fetch", "status.example"}), "");
  EXPECT_EQ(problem({"fetch", "did:plc:status"}), "");
  EXPECT_EQ(problem({"fetch", "somebody"}), "");
}

TEST(UnknownWord, values_are_not_judged) {
  EXPECT_EQ(problem({"copy", "--mode", "--moed", "a", "b"}), "");
  EXPECT_EQ(problem({"copy", "--car", "cpoy", "grop", "--quiet", "a", "b"}), "");
  EXPECT_EQ(problem({"copy", "-", "-5"}), "");
  EXPECT_EQ(problem({"copy", "--", "--moed", "-x"}), "");
  EXPECT_EQ(problem({"-q", "--config=x", "copy", "cpoy", "b", "too", "many"}), "");
  EXPECT_EQ(problem({}), "");
}

}  // namespace
}  // namespace skua::command_line
