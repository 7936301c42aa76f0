#pragma once

#include <vector>

#include "doctor/finding.hpp"
#include "feed/consumers/consumer_table.hpp"
#include "feed/log_maintenance.hpp"

namespace skua::doctor {

// What follows the change log (feed::read_consumers, feed::read_log_size). Pure.

/// The judgement of each is that of feed::judge_consumer.
Findings judge_consumers(const std::vector<feed::Consumer>& consumers);

Finding judge_change_log(const feed::LogSize& size);

}  // namespace skua::doctor
