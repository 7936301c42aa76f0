#pragma once

#include <string>

#include "consumers/consumer_table.hpp"

namespace skua::consumers {

/// Says what fails, by the kind of the consumer and by what the failure concerns, such as
/// "deliveries fail". Pure.
std::string failure_subject(const Consumer& consumer, FailureCause cause);

/// Tells the operator how to correct a lane that fails, and what happens until then. Pure.
std::string failure_cure(const Consumer& consumer, const ConsumerLane& lane);

}  // namespace skua::consumers
