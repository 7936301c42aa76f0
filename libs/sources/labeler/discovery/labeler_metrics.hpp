#pragma once

#include <cstddef>

#include "base/metric.hpp"
#include "sources/labeler/discovery/labeler_choice.hpp"

namespace skua::sources {

/// Metrics of the discovery of labelers. Any thread.
struct LabelerMetrics {
  Gauge found{"discovered_labelers", "skua_discovered_labelers", "accounts",
              "Active accounts with a labeler record that were considered"};
  Gauge subscribed{"subscribed_labelers", "skua_subscribed_labelers", "labelers",
                   "Discovered labelers with a subscription"};
  Gauge connected{"connected_labelers", "skua_connected_labelers", "labelers",
                  "Discovered labelers with a connection at this moment"};
  GaugeFamily<kLeftOutReasons> left_out{
      "left_out_labelers",
      "skua_left_out_labelers",
      "accounts",
      "Accounts with a labeler record that have no subscription, by reason",
      "reason",
      [](std::size_t index) { return name_of(static_cast<LeftOut>(index)); }};
  Counter failures{"labeler_failures", "skua_labeler_connection_failures_total", "connections",
                   "Connections to discovered labelers that failed or ended"};
};

}  // namespace skua::sources
