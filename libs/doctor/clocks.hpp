#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "doctor/finding.hpp"
#include "store/session.hpp"

namespace skua::doctor {

/// Other clocks, compared with the one of this machine. Positive: the other one is ahead.
struct ClocksFound {
  /// Nothing: the database cannot be reached.
  std::optional<std::chrono::microseconds> server_ahead;
  /// Of the header Date of each host that answered, which has whole seconds.
  std::vector<std::chrono::microseconds> hosts_ahead;
};

/// How far PostgreSQL's clock is ahead of `ours`; nothing if it answered too slowly. Throws
/// store::SqlError.
std::optional<std::chrono::microseconds> read_server_ahead(store::Session& session,
                                                           const Clock& ours);

/// Clocks that differ by less than five seconds agree (store::kClocksAgree). From five minutes on,
/// Skua would accept or drop commits wrongly: an error. Pure.
Findings judge_clocks(const ClocksFound& clocks);

}  // namespace skua::doctor
