#include "problem_list.hpp"

#include <fmt/format.h>

#include "command_line/table.hpp"

namespace skua::cli {

std::string problem_text(const Problem& problem) {
  return fmt::format("{}: {}\n\nCause: {}\n\nWhat to do: {}\n", problem.code, problem.title,
                     problem.cause, problem.cure);
}

std::string problem_list_text() {
  command_line::Table table({{}, {}});
  for (const Problem& problem : kProblems) {
    table.add({std::string(problem.code), std::string(problem.title)});
  }
  return "Problems that logs, /health/ready and `skua doctor` name. `skua help CODE` explains "
         "one.\n\n" +
         table.text();
}

std::string problem_list_markdown() {
  std::string text;
  for (const Problem& problem : kProblems) {
    text += fmt::format("{}### {}\n\nProblem: {}.\n\nCause: {}\n\nWhat to do: {}\n",
                        text.empty() ? "" : "\n", problem.code, problem.title, problem.cause,
                        problem.cure);
  }
  return text;
}

}  // namespace skua::cli
