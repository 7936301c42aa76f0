#include "pages/reason_log.hpp"

#include <algorithm>
#include <array>
#include <map>
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
  std::map<Key, std::string> present;
  for (const auto* list : {&health.reasons, &health.warnings}) {
    for (const Reason& reason : *list) {
      if (std::ranges::find(kLogged, reason.problem) == kLogged.end()) continue;
      present.emplace(
          Key(reason.problem->code, reason.subject),
          with_code(fmt::format("{}: {}", reason.problem->title, reason.detail), *reason.problem));
    }
  }
  for (const auto& [key, line] : present) {
    if (logged_.insert(key).second) warn_(line);
  }
  if (!is_complete) return;
  std::erase_if(logged_, [&](const Key& key) {
    if (present.contains(key)) return false;
    const auto& [code, subject] = key;
    info_(fmt::format("ended: {}{}{}", find_problem(code)->title, subject.empty() ? "" : ": ",
                      subject));
    return true;
  });
}

}  // namespace skua::pages
