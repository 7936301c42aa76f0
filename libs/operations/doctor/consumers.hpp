#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "consumers/consumer_table.hpp"
#include "consumers/log_maintenance.hpp"
#include "consumers/messages/message_inbox.hpp"
#include "doctor/finding.hpp"
#include "postgres/session.hpp"

namespace skua::doctor {

// The functions judge the consumers of the change log (consumers::read_consumers,
// consumers::read_log_size) and own messages (consumers::read_inbox). Pure.

/// Makes a finding of the judgement of each consumer (consumers::judge_consumer).
Findings judge_consumers(const std::vector<consumers::Consumer>& consumers);

Finding judge_change_log(const consumers::LogSize& size);

Finding judge_inbox(const consumers::InboxState& inbox);

/// Leases of one kind that have ended without a new owner.
struct EndedLeases {
  enum class Kind : std::uint8_t { Jobs, Lists, Letters, Lanes };
  Kind kind = Kind::Jobs;
  std::int64_t count = 0;
  /// The time since the end of the oldest lease.
  std::chrono::seconds oldest{0};
};

/// Reads the leases that ended a minute ago or earlier, by the server's clock. Kinds without such a
/// lease are omitted. Throws postgres::SqlError.
std::vector<EndedLeases> read_ended_leases(postgres::Session& session,
                                           const std::vector<EndedLeases::Kind>& kinds);

/// Returns no findings if no lease has ended. Pure.
Findings judge_leases(const std::vector<EndedLeases>& ended);

/// `missing` is the number of indexes that a bootstrap has not built yet; 0 if no bootstrap is
/// open. Pure.
Finding judge_bootstrap(std::size_t missing);

}  // namespace skua::doctor
