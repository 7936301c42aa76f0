#include "command_line/help_text.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skua::command_line {
namespace {

using testing::HasSubstr;

constexpr const char* kFooter =
    "A paragraph of several words that is\nwritten in two lines.\n\n"
    "Exit codes:\n  0  all of the work was done, and nothing is left\n  2  wrong\n\n"
    "Examples:\n  program fetch somebody --with-an-option --and-another\n  program fetch";

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

/// The help of a program whose texts are longer than its lines.
std::string help(std::optional<std::size_t> columns) {
  CLI::App app("Does things", "program");
  app.formatter(std::make_shared<HelpFormatter>(columns));
  bool is_all = false;
  app.add_flag("--all", is_all, "A meaning that is so long that a narrow terminal breaks it");
  app.add_subcommand("fetch", "A summary that is so long that a narrow terminal breaks it, too");
  app.footer("A footer that is so long that a narrow terminal breaks it at a blank.");
  return app.help();
}

TEST(HelpText, paragraphs_and_entries_are_broken_and_examples_stay_whole) {
  EXPECT_EQ(wrapped_footer(kFooter, 30),
            "A paragraph of several words\nthat is written in two lines.\n\n"
            "Exit codes:\n  0  all of the work was done,\n     and nothing is left\n  2  wrong\n\n"
            "Examples:\n  program fetch somebody --with-an-option --and-another\n"
            "  program fetch\n");
}

TEST(HelpText, a_wide_terminal_joins_the_lines_of_a_paragraph) {
  EXPECT_THAT(wrapped_footer(kFooter, 100),
              HasSubstr("A paragraph of several words that is written in two lines.\n\n"));
}

TEST(HelpText, every_line_fits_the_terminal) {
  for (const std::size_t columns : {50U, 60U, 79U}) {
    EXPECT_LE(widest_line(help(columns)), columns) << help(columns);
  }
  EXPECT_THAT(help(60), HasSubstr("--all                       A meaning that is so long that\n"
                                  "                              a narrow terminal breaks it\n"));
}

TEST(HelpText, without_a_terminal_lines_are_as_written) {
  EXPECT_THAT(help(std::nullopt),
              HasSubstr("A meaning that is so long that a narrow terminal breaks it\n"));
}

}  // namespace
}  // namespace skua::command_line
