#include "doctor/settings.hpp"

#include <fmt/format.h>

namespace skua::doctor {

Finding judge_settings(const SettingsFound& found, const std::optional<std::string>& reader) {
  constexpr const char* kCheck = "settings of skua run";
  constexpr const char* kCure =
      "Give `--http ADDRESS:PORT` of the process, or the flags with which it was started.";
  const std::string examined =
      found.examined.empty() ? "" : fmt::format("; examined: {}", found.examined);
  if (found.origin.empty()) {
    return reader ? skipped(kCheck, "not asked (--http off)" + examined, kCure)
                  : ok(kCheck, "no process reads a source" + examined);
  }
  if (found.failure.empty() && found.uses_database.value_or(true)) {
    return ok(kCheck, fmt::format("those of the process at {}, and the flags of this command{}",
                                  found.origin, examined));
  }
  const std::string why =
      found.failure.empty()
          ? fmt::format("the process at {} uses another database", found.origin)
          : fmt::format("{} does not state them: {}", found.origin, found.failure);
  if (!reader) return ok(kCheck, fmt::format("no process reads a source{}", examined));
  return skipped(kCheck, fmt::format("{}. A source is read by {}{}", why, *reader, examined),
                 kCure);
}

}  // namespace skua::doctor
