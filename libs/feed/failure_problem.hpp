#pragma once

#include <string_view>

#include "base/problem.hpp"

namespace skua::feed {

/// The problem that follows when a change has failed too often, by the policy of its consumer: the
/// consumer does not advance, or there is a dead letter.
inline const Problem& problem_of_failure(std::string_view policy) {
  return policy == "pause" || policy == "block_lane" ? problem("consumer-stuck")
                                                     : problem("dead-letters");
}

}  // namespace skua::feed
