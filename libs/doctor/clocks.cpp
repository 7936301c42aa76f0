#include "doctor/clocks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "store/clock_watch.hpp"
#include "store/server_clock.hpp"

namespace skua::doctor {
namespace {

using std::chrono::microseconds;

/// The tolerance for commits from the future (docs/architecture.md).
constexpr std::chrono::minutes kWrong{5};

/// One wrong host does not count if most others agree.
microseconds median(std::vector<microseconds> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void judge_clock(Findings& findings, microseconds ahead, const std::string& whose) {
  const auto difference = store::clock_difference_text(ahead);
  if (!difference) return;
  const std::string detail = fmt::format("the clock of this machine is {} {}", *difference, whose);
  findings.push_back(std::chrono::abs(ahead) < kWrong
                         ? warning("clocks", problem("clock-wrong"), detail)
                         : error("clocks", problem("clock-wrong"), detail));
}

}  // namespace

std::optional<microseconds> read_server_ahead(store::Session& session, const Clock& ours) {
  store::ServerClock clock(ours);
  clock.compare(session);
  return clock.ahead();
}

Findings judge_clocks(const ClocksFound& clocks) {
  Findings findings;
  std::string agreeing;
  if (clocks.server_ahead) {
    judge_clock(findings, *clocks.server_ahead, "PostgreSQL's");
    agreeing = "PostgreSQL";
  }
  if (!clocks.hosts_ahead.empty()) {
    const std::string hosts = counted(static_cast<std::int64_t>(clocks.hosts_ahead.size()), "host");
    judge_clock(findings, median(clocks.hosts_ahead), "that of " + hosts);
    agreeing += (agreeing.empty() ? "" : " and ") + hosts;
  }
  if (agreeing.empty()) {
    return {skipped("clocks", "not compared: neither PostgreSQL nor a host stated its time")};
  }
  if (findings.empty()) {
    findings.push_back(ok("clocks", fmt::format("this machine and {} agree", agreeing)));
  }
  if (!clocks.server_ahead) {
    findings.push_back(skipped("clocks",
                               "PostgreSQL's clock was not compared: it did not answer, "
                               "or too slowly"));
  }
  return findings;
}

}  // namespace skua::doctor
