#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "consumers/consumer_table.hpp"

namespace skua::consumers {

/// Returns the problem of a consumer whose change has failed too often: under the policy `pause` or
/// `block_lane` the consumer does not advance, and under the other policy there is a dead letter.
inline const Problem& problem_of_failure(std::string_view policy) {
  return policy == "pause" || policy == "block_lane" ? problem("consumer-stuck")
                                                     : problem("dead-letters");
}

/// The limits from which an observation of a consumer is a problem.
struct ConsumerLimits {
  /// A lane that has failed in a row for this long is a problem; so are changes that have waited
  /// for this long while no process serves the consumer. The limit is longer than the failures of a
  /// receiver that restarts for a minute, with the wait before the next request.
  std::chrono::seconds failing{120};
  /// A lag of this length is a problem.
  std::chrono::seconds behind{600};
};

/// Says whether a consumer works, and if it does not, why not and what the operator should do.
/// Lists, pages, metrics, the log and `skua doctor` show the same judgement.
struct ConsumerJudgement {
  enum class Level : std::uint8_t {
    /// The consumer works. If there is a reason, it is a failure that may pass.
    Works,
    /// A person should look at the consumer; its state may be intended, or pass.
    Notice,
    /// The consumer does not advance until a person acts.
    Stuck,
    /// The consumer has stopped and does not continue.
    Stopped,
  };

  Level level = Level::Works;
  /// A word for lists: `running` if the consumer processes changes, otherwise the reason why it
  /// does not, such as `failing`.
  std::string state = {};
  /// Null if the consumer works.
  const Problem* problem = nullptr;
  /// The observation, which may quote a receiver; empty if there is none.
  std::string reason = {};
  /// What the operator should do; empty if nothing is to be done.
  std::string cure = {};
};

/// Judges a consumer by its most serious state. Pure.
ConsumerJudgement judge_consumer(const Consumer& consumer, const ConsumerLimits& limits = {});

/// Returns the lane that has failed longest since its last successful batch; a lane with broken
/// tables or a malformed filter precedes all others. Null if no lane fails.
const ConsumerLane* failing_lane(const Consumer& consumer);

/// Returns the failures of all lanes since the last successful batch of each lane.
std::int64_t failures_in_a_row(const Consumer& consumer);

}  // namespace skua::consumers
