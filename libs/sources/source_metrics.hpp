#pragma once

#include <vector>

#include "base/metric.hpp"
#include "status/metrics.hpp"

namespace skua::sources {

/// Counters of the connection to one source.
struct ConnectionCounters {
  Counter reconnects{"reconnects", "skua_reconnects_total", "connections",
                     "Connections after the first one"};
  Counter skipped{"skipped", "skua_skipped_sequence_numbers_total", "sequence numbers",
                  "Sequence numbers that are missing between the cursor and the first message of a "
                  "connection"};
  Counter restarts{"restarts", "skua_sequence_resets_total", "resets",
                   "Resets of the source's sequence numbers"};
};

/// The metrics of a relay that stands by: all counts are 0. Without those of its connection.
status::Metrics uncounted_metrics();

/// All metrics that a source can have.
std::vector<status::MetricDeclaration> source_metric_declarations();

}  // namespace skua::sources
