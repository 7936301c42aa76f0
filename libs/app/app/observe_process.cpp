#include "app/observe_process.hpp"

#include <cstddef>
#include <utility>
#include <variant>

#include "pipeline/intake_counters.hpp"
#include "verify/errc.hpp"

namespace skua::app {
namespace {

/// Adds the counts of another source to the sum. Both have the same labels.
void add_counts(CountsByLabel& sum, const CountsByLabel& counts) {
  sum.resize(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sum[i].first = counts[i].first;
    sum[i].second += counts[i].second;
  }
}

}  // namespace

pages::ProcessState observe_process(const std::vector<std::unique_ptr<sources::SourceRun>>& runs,
                                    const accounts::NetworkAccounts* accounts,
                                    const accounts::PlcTail* plc_tail,
                                    const postgres::ClockWatch& clocks) {
  pages::ProcessState state;
  state.phase = pages::ProcessState::Phase::Running;
  state.server_clock_ahead = clocks.server_ahead();
  if (accounts != nullptr) {
    const auto failures = accounts->directory_failures();
    state.directory_failures = failures.count;
    state.directory_failed_at = failures.latest;
  }
  if (plc_tail != nullptr) {
    const auto failures = plc_tail->failures();
    state.plc_tail_failures = failures.count;
    state.plc_tail_failed_at = failures.latest;
  }
  for (const auto& run : runs) {
    for (auto& source : run->states()) state.sources.push_back(std::move(source));
    const pipeline::IntakeCounters& intake = run->intake();
    state.frames_held += intake.frames_held;
    state.cut_off += intake.dropped[verify::index_of(verify::errc::parked_over_budget)];
    add_counts(state.collections, std::get<CountsByLabel>(intake.collections.read().value));
  }
  return state;
}

}  // namespace skua::app
