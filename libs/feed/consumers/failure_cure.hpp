#pragma once

#include <string>

#include "feed/consumers/consumer_table.hpp"

namespace skua::feed {

/// What the operator does about a lane that fails, by what the last failure concerns, and what
/// happens until then. Pure.
std::string failure_cure(const Consumer& consumer, const ConsumerLane& lane);

}  // namespace skua::feed
