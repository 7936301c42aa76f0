#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "consumers/consumer_table.hpp"

namespace skua::consumers {

/// The problem that follows when a change has failed too often, by the policy of its consumer: the
/// consumer does not advance, or there is a dead letter.
inline const Problem& problem_of_failure(std::string_view policy) {
  return policy == "pause" || policy == "block_lane" ? problem("consumer-stuck")
                                                     : problem("dead-letters");
}

/// The limits from which an observation of a consumer is a problem.
struct ConsumerLimits {
  /// Failures in a row, and changes that wait while no process serves the consumer. A receiver that
  /// restarts for a minute stays below it, with the wait before the next request.
  std::chrono::seconds failing{120};
  /// The lag.
  std::chrono::seconds behind{600};
};

/// Whether a consumer does its work, and if not, why and what to do. Lists, pages, metrics, the log
/// and `skua doctor` show the same judgement.
struct ConsumerJudgement {
  enum class Level : std::uint8_t {
    /// It works. A reason then is a failure that may pass.
    Works,
    /// A person should look at it; it may be intended, or pass.
    Notice,
    /// It does not advance until a person acts.
    Stuck,
    /// It has stopped for good.
    Stopped,
  };

  Level level = Level::Works;
  /// A word for lists: `running` if it processes changes, otherwise the reason why it does not,
  /// such as `failing`.
  std::string state = {};
  /// Null: it works.
  const Problem* problem = nullptr;
  /// The observation. It may quote a receiver. Empty: there is none.
  std::string reason = {};
  /// What the operator should do; empty: nothing.
  std::string cure = {};
};

/// Its most serious state. Pure.
ConsumerJudgement judge_consumer(const Consumer& consumer, const ConsumerLimits& limits = {});

/// The lane that has failed longest since its last batch that succeeded, first one with broken
/// tables; null: none fails.
const ConsumerLane* failing_lane(const Consumer& consumer);

/// Failures of all lanes since then.
std::int64_t failures_in_a_row(const Consumer& consumer);

}  // namespace skua::consumers
