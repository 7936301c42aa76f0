#include "pages/reason_log.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"

namespace skua::pages {
namespace {

constexpr std::array kLogged{&problem("source-behind"), &problem("collection-quiet")};

}  // namespace

ReasonLog::ReasonLog()
    : ReasonLog([](const std::string& line) { logger("health")->warn("{}", line); },
                [](const std::string& line) { logger("health")->info("{}", line); }) {}

void ReasonLog::update(const Health& health) {
  for (const Problem* problem : kLogged) {
    if (!health.has(problem->code)) {
      if (logged_.erase(problem->code) > 0) info_(fmt::format("ended: {}", problem->title));
      continue;
    }
    if (!logged_.insert(problem->code).second) continue;
    for (const Reason& reason : health.reasons) {
      if (reason.problem == problem) {
        warn_(with_code(fmt::format("{}: {}", problem->title, reason.detail), *problem));
      }
    }
  }
}

}  // namespace skua::pages
