#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
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
  /// The time between two searches for changes while there are none.
  std::chrono::milliseconds idle{};
  /// The number of lanes that are processed at the same time.
  std::int32_t processors = 0;
  /// The duration of a lease of a pull consumer, if the program does not name another one.
  std::chrono::milliseconds lease{};
};

/// A value of a profile that `skua.consumers.overrides` can replace. Times are in milliseconds.
struct TuningValue {
  std::string_view key;
  std::int64_t least = 1;
  std::int64_t most = 0;
  /// The only kind of consumers that has the value; empty if all kinds have it.
  std::string_view kind = {};
  std::int64_t (*read)(const Tuning& tuning) = nullptr;
  void (*replace)(Tuning& tuning, std::int64_t value) = nullptr;
};

/// Returns the values in the order in which people see them.
const std::vector<TuningValue>& tuning_values();

/// Returns the profiles: default, low_latency, high_throughput, relaxed.
const std::vector<Tuning>& tuning_profiles();

/// Returns the values of a profile with the overrides of a consumer, a JSON object. An override
/// that is not a whole number is ignored, as in the SQL function skua.tuning_overrides. An unknown
/// profile has the values of the default profile.
Tuning tuning_of(std::string_view profile, const std::string& overrides);

/// Returns the first key of the overrides, a JSON object, that consumers of this kind do not have;
/// nothing if they have all.
std::optional<std::string> unknown_override(std::string_view kind, const std::string& overrides);

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
