#include "problem_list.hpp"

#include <fmt/format.h>

namespace skua::cli {

std::string problem_text(const Problem& problem) {
  return fmt::format("{}: {}\n\nCause: {}\n\nWhat to do: {}\n", problem.code, problem.title,
                     problem.cause, problem.cure);
}

std::string problem_list_text() {
  std::string text =
      "Problems that logs, /health/ready and `skua doctor` name. `skua help CODE` "
      "explains one.\n\n";
  for (const Problem& problem : kProblems) {
    text += fmt::format("{:<21} {}\n", problem.code, problem.title);
  }
  return text;
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
