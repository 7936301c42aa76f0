#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/session.hpp"

namespace skua::consumers {

// These are the beginnings of the names (postgres::process_name) of sessions that exist as long as
// a process serves consumers. A consumer is served if such a session is connected to the database.

/// The session builds and applies projections.
inline const std::string kProjectionsSession = "skua projections";
/// The session sends changes to webhooks. The same processes answer pull consumers.
inline const std::string kWebhooksSession = "skua webhooks";

/// How a consumer reads the change log.
struct Tuning {
  std::string_view profile;
  /// The maximum number of changes of a batch.
  std::int32_t batch = 0;
  /// The time between two batches of a lane, in which changes collect. A lane that has a full batch
  /// of changes does not wait.
  std::chrono::milliseconds pause{};
  /// The number of failures of one change after which the policy applies.
  std::int32_t max_attempts = 0;
  /// The wait after the first failure. It doubles with each failure, up to `max_retry`.
  std::chrono::milliseconds retry{};
  std::chrono::milliseconds max_retry{};
};

/// Returns the profiles: default, low_latency, high_throughput, relaxed. `skua.consumers.overrides`
/// replaces single values by key: batch, pause_ms, max_attempts, retry_ms, max_retry_ms.
const std::vector<Tuning>& tuning_profiles();

/// Returns null if there is no profile of this name.
const Tuning* find_tuning_profile(std::string_view name);

/// Executes a statement that contains the fragment `tuning` (tuning.sql): its first six parameters
/// are the tuning profiles, `others` are the parameters from 7 on. Throws postgres::SqlError.
template <class... Arguments>
postgres::Rows execute_tuned(postgres::Session& session, const postgres::Statement& statement,
                             const Arguments&... others) {
  const std::vector<Tuning>& profiles = tuning_profiles();
  const auto milliseconds = [](std::chrono::milliseconds Tuning::*time) {
    return [time](const Tuning& profile) {
      return static_cast<std::int32_t>((profile.*time).count());
    };
  };
  using postgres::column;
  return session.execute(
      statement, column(profiles, &Tuning::profile), column(profiles, &Tuning::batch),
      column(profiles, milliseconds(&Tuning::pause)), column(profiles, &Tuning::max_attempts),
      column(profiles, milliseconds(&Tuning::retry)),
      column(profiles, milliseconds(&Tuning::max_retry)), others...);
}

}  // namespace skua::consumers
