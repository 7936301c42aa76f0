#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/metric.hpp"

namespace skua::change_feed {

/// What a stream sends.
enum class StreamForm : std::uint8_t {
  /// `/changes` as server-sent events.
  ServerSentEvents,
  /// `/changes` as a websocket.
  Websocket,
  /// `/subscribe`.
  Jetstream,
};
inline constexpr std::size_t kStreamForms = 3;
const char* name_of_stream_form(std::size_t index);

/// The errors that are counted: those with which requests for streams are refused and streams end
/// (docs/feeds.md), and those of the server's limits.
inline constexpr std::array kFeedErrors{
    "InvalidRequest", "NotAcceptable",  "UpgradeRequired",    "CompressionNotSupported",
    "CursorTooOld",   "CursorInFuture", "TimelineChanged",    "DatabaseUnavailable",
    "InvalidMessage", "InvalidOptions", "TooManyConnections", "ConsumerTooSlow"};
const char* name_of_feed_error(std::size_t index);

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
  GaugeFamily<kStreamForms> streams{"",        "skua_feed_streams",
                                    "streams", "Open streams of /changes and /subscribe, by form",
                                    "form",    name_of_stream_form};
  CounterFamily<kStreamForms> stream_changes{
      "",        "skua_feed_stream_changes_total",
      "changes", "Changes that streams sent, one for each client, by form",
      "form",    name_of_stream_form};
  GaugeFamily<kStreamForms> stream_behind{
      "",        "skua_feed_stream_behind_changes",
      "changes", "Changes that the slowest open stream has not looked at, by form",
      "form",    name_of_stream_form};
  CounterFamily<kFeedErrors.size()> errors{
      "",        "skua_feed_errors_total",
      "clients", "Clients that were refused, or whose streams were ended, by error",
      "error",   name_of_feed_error};
  Counter batches{"", "skua_feed_batches_total", "batches",
                  "Batches of changes that webhooks and pull consumers got"};
  Counter batch_changes{"", "skua_feed_batch_changes_total", "changes",
                        "Changes that webhooks and pull consumers got, repetitions included"};
  CounterFamily<kBatchEnds> batch_ends{
      "",        "skua_feed_batch_results_total",
      "batches", "Answers of webhooks and pull consumers to batches, by result",
      "result",  name_of_batch_end};
};

/// Counts one of `kFeedErrors`; others are not counted.
void count_error(FeedMetrics& metrics, std::string_view error);

}  // namespace skua::change_feed
