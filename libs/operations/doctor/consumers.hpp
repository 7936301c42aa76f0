#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "consumers/consumer_table.hpp"
#include "consumers/log_maintenance.hpp"
#include "doctor/finding.hpp"
#include "postgres/session.hpp"

namespace skua::doctor {

// What follows the change log (consumers::read_consumers, consumers::read_log_size). Pure.

/// The judgement of each is that of consumers::judge_consumer.
Findings judge_consumers(const std::vector<consumers::Consumer>& consumers);

Finding judge_change_log(const consumers::LogSize& size);

/// Leases of one kind that have ended, and that nobody has taken since.
struct EndedLeases {
  enum class Kind : std::uint8_t { Jobs, Lists, Letters, Lanes };
  Kind kind = Kind::Jobs;
  std::int64_t count = 0;
  /// Since the end of the oldest.
  std::chrono::seconds oldest{0};
};

/// Leases of these kinds that ended a minute ago or earlier, by the server's clock; kinds without
/// one are left out. Throws postgres::SqlError.
std::vector<EndedLeases> read_ended_leases(postgres::Session& session,
                                           const std::vector<EndedLeases::Kind>& kinds);

/// Empty if none has ended. Pure.
Findings judge_leases(const std::vector<EndedLeases>& ended);

/// `missing`: the indexes that a bootstrap has not built yet; 0: none is open. Pure.
Finding judge_bootstrap(std::size_t missing);

}  // namespace skua::doctor
