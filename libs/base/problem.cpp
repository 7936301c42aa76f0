#include "base/problem.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace skua {

const Problem* find_problem(std::string_view code) {
  const auto* const found = std::ranges::find(kProblems, code, &Problem::code);
  return found == kProblems.end() ? nullptr : &*found;
}

std::string with_code(std::string_view detail, const Problem& problem) {
  return fmt::format("{} [{}]", detail, problem.code);
}

}  // namespace skua
