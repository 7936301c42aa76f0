#include "doctor/unfinished.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"

namespace skua::doctor {

namespace {

constexpr std::size_t kLongestReason = 120;

constexpr double kManyPartial = 0.5;
/// This number of failed resyncs is a warning. A host that is down for a day causes fewer.
constexpr std::int64_t kManyFailed = 1000;

}  // namespace

Finding judge_letters(const tables::LetterReasons& letters) {
  if (letters.all == 0) return ok("dead letters", "none");
  std::string detail = counted(letters.all, "dead letter") + ": ";
  std::int64_t shown = 0;
  for (const tables::LetterReason& reason : letters.reasons) {
    detail += fmt::format("{}{} x {}", shown == 0 ? "" : ", ", reason.count,
                          printable(reason.reason, kLongestReason));
    shown += reason.count;
  }
  if (shown < letters.all) detail += fmt::format(", {} x others", letters.all - shown);
  return warning("dead letters", problem("dead-letters"), detail);
}

Finding judge_repositories(const status::RepositoryCounts& counts) {
  std::int64_t all = 0;
  std::int64_t partial = 0;
  for (const auto& [state, count] : counts.by_state) {
    all += count;
    if (state == "partial") partial += count;
  }
  const double share = all == 0 ? 0 : static_cast<double>(partial) / static_cast<double>(all);
  const std::string detail = fmt::format("{}{}, {:.0f} % partial, {} failed",
                                         counts.exact ? "" : "about ", counted(all, "repository"),
                                         share * 100, counted(counts.resyncs_failed, "resync"));
  if (counts.resyncs_failed >= kManyFailed) {
    return warning("repositories", problem("partial-repositories"), detail,
                   "`skua repo info DID` shows the error of a repository. Skua tries them again.");
  }
  if (share >= kManyPartial) {
    return advice("repositories", problem("partial-repositories"), detail,
                  "If you need the records from before Skua began: run `skua backfill`.");
  }
  return ok("repositories", detail);
}

}  // namespace skua::doctor
