#pragma once

#include <cstddef>
#include <cstdint>

#include "base/metric.hpp"

namespace skua::change_feed {

/// How the lease of a batch ended.
enum class BatchEnd : std::uint8_t {
  /// The consumer acknowledged the batch, or its first changes.
  Acknowledged,
  /// The consumer refused the batch or a change.
  Failed,
  /// The webhook was not available. The attempt does not count.
  Unavailable,
  /// The lease had ended before: the changes are delivered again.
  LeaseLost,
};
inline constexpr std::size_t kBatchEnds = 4;
const char* name_of_batch_end(std::size_t index);

/// Metrics of `skua serve`. Any thread.
struct FeedMetrics {
  Gauge streams{"", "skua_feed_streams", "streams", "Open streams of /changes and /subscribe"};
  Counter stream_changes{"", "skua_feed_stream_changes_total", "changes",
                         "Changes that streams sent, one for each client"};
  Counter batches{"", "skua_feed_batches_total", "batches",
                  "Batches of changes that webhooks and pull consumers got"};
  Counter batch_changes{"", "skua_feed_batch_changes_total", "changes",
                        "Changes that webhooks and pull consumers got, repetitions included"};
  CounterFamily<kBatchEnds> batch_ends{
      "",        "skua_feed_batch_results_total",
      "batches", "Answers of webhooks and pull consumers to batches, by result",
      "result",  name_of_batch_end};
};

}  // namespace skua::change_feed
