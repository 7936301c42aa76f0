#pragma once

#include <string>

#include "base/problem.hpp"

namespace skua::cli {

/// A problem for people: code, title, cause and cure.
std::string problem_text(const Problem& problem);

/// All problems: a line for each.
std::string problem_list_text();

/// All problems as sections of Markdown: those of docs/problems.md.
std::string problem_list_markdown();

}  // namespace skua::cli
