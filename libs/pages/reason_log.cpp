#include "pages/reason_log.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"

namespace skua::pages {
namespace {

// The writer logs a full lock table only when it has lasted longer.
constexpr std::array kLogged{&problem("lock-table-full"),  &problem("schema-old"),
                             &problem("schema-new"),       &problem("source-behind"),
                             &problem("collection-quiet"), &problem("account-cut-off"),
                             &problem("consumer-stuck"),   &problem("bootstrap-open")};

}  // namespace

ReasonLog::ReasonLog()
    : ReasonLog([](const std::string& line) { logger("health")->warn("{}", line); },
                [](const std::string& line) { logger("health")->info("{}", line); }) {}

void ReasonLog::update(const Health& health, bool is_complete) {
  for (const Problem* problem : kLogged) {
    if (!health.has(problem->code)) {
      if (is_complete && logged_.erase(problem->code) > 0) {
        info_(fmt::format("ended: {}", problem->title));
      }
      continue;
    }
    if (!logged_.insert(problem->code).second) continue;
    for (const auto* list : {&health.reasons, &health.warnings}) {
      for (const Reason& reason : *list) {
        if (reason.problem != problem) continue;
        warn_(with_code(fmt::format("{}: {}", problem->title, reason.detail), *problem));
      }
    }
  }
}

}  // namespace skua::pages
