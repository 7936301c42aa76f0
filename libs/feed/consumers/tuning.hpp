#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::feed {

/// How a consumer reads the change log.
struct Tuning {
  std::string_view profile;
  /// The maximum number of changes of a batch.
  std::int32_t batch = 0;
  /// The time between two batches of a lane, in which changes collect. A lane with a whole batch of
  /// changes does not wait.
  std::chrono::milliseconds pause{};
  /// Failures of one change until the policy applies.
  std::int32_t max_attempts = 0;
  /// The wait after the first failure. It doubles with each failure, up to `max_retry`.
  std::chrono::milliseconds retry{};
  std::chrono::milliseconds max_retry{};
};

/// The profiles: default, low_latency, high_throughput, relaxed. `skua.consumers.overrides`
/// replaces single values by key: batch, pause_ms, max_attempts, retry_ms, max_retry_ms.
const std::vector<Tuning>& tuning_profiles();

/// Null if there is no such profile.
const Tuning* find_tuning_profile(std::string_view name);

}  // namespace skua::feed
