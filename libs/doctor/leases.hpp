#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "doctor/finding.hpp"
#include "store/session.hpp"

namespace skua::doctor {

/// Leases of one kind that have ended, and that nobody has taken since.
struct EndedLeases {
  enum class Kind : std::uint8_t { Jobs, Lists, Letters, Lanes };
  Kind kind = Kind::Jobs;
  std::int64_t count = 0;
  /// Since the end of the oldest.
  std::chrono::seconds oldest{0};
};

/// Leases of these kinds that ended a minute ago or earlier, by the server's clock; kinds without
/// one are left out. Throws store::SqlError.
std::vector<EndedLeases> read_ended_leases(store::Session& session,
                                           const std::vector<EndedLeases::Kind>& kinds);

/// Empty if none has ended. Pure.
Findings judge_leases(const std::vector<EndedLeases>& ended);

/// `missing`: the indexes that a bootstrap has not built yet; 0: none is open. Pure.
Finding judge_bootstrap(std::size_t missing);

}  // namespace skua::doctor
