#include "base/problem.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/text.hpp"

namespace skua {
namespace {

/// The limit is below the limit of a log message, so that a line never loses its code.
constexpr std::size_t kDetail = 900;

}  // namespace

const Problem* find_problem(std::string_view code) {
  const auto* const found = std::ranges::find(kProblems, code, &Problem::code);
  return found == kProblems.end() ? nullptr : &*found;
}

std::string with_code(std::string_view detail, const Problem& problem) {
  return fmt::format("{} [{}]", printable(detail, kDetail), problem.code);
}

}  // namespace skua
