#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/guarded.hpp"
#include "base/metric.hpp"
#include "postgres/session_thread.hpp"
#include "streams/change_event.hpp"
#include "streams/change_filter.hpp"
#include "streams/log_pages.hpp"

namespace skua::streams {

/// The form in which a stream sends changes.
enum class StreamForm : std::uint8_t {
  /// The path `/changes` with server-sent events.
  ServerSentEvents,
  /// The path `/changes` with a websocket.
  Websocket,
  /// The path `/subscribe`.
  Jetstream,
};
inline constexpr std::size_t kStreamForms = 3;
const char* name_of_stream_form(std::size_t index);

/// The errors that are counted: errors that refuse requests for streams or end streams
/// (docs/feeds.md), and errors because of the server's limits.
inline constexpr std::array kFeedErrors{
    "InvalidRequest", "NotAcceptable",  "UpgradeRequired",    "CompressionNotSupported",
    "CursorTooOld",   "CursorInFuture", "TimelineChanged",    "DatabaseUnavailable",
    "InvalidMessage", "InvalidOptions", "TooManyConnections", "ConsumerTooSlow",
    "NodeRemoved"};
const char* name_of_feed_error(std::size_t index);

/// Says how the lease of a batch ended.
enum class BatchEnd : std::uint8_t {
  /// The consumer acknowledged the batch, or its first changes.
  Acknowledged,
  /// The consumer refused the batch or a change.
  Failed,
  /// The webhook was not available, so the attempt does not count.
  Unavailable,
  /// The lease had ended before, so the changes are delivered again.
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

/// Counts an error of `kFeedErrors`. Other errors are not counted.
void count_error(FeedMetrics& metrics, std::string_view error);

/// The most recent changes, which all clients share. Not thread-safe.
class RecentChanges {
 public:
  /// The list removes its oldest changes when it uses more than this memory.
  explicit RecentChanges(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Removes all changes. The next change has the position `next`.
  void restart(std::int64_t next) {
    changes_.clear();
    bytes_ = 0;
    end_ = next;
    time_us_ = 0;
  }

  /// Appends a page with all changes from `end()` on.
  void append(ChangePage page) {
    for (auto& event : page.events) {
      bytes_ += event->bytes();
      changes_.push_back(std::move(event));
    }
    end_ = page.next;
    time_us_ = page.time_us;
    while (bytes_ > max_bytes_) {
      bytes_ -= changes_.front()->bytes();
      changes_.pop_front();
    }
  }

  /// The list contains the changes from `begin()` to before `end()`.
  std::int64_t begin() const { return end_ - static_cast<std::int64_t>(changes_.size()); }
  std::int64_t end() const { return end_; }
  /// Returns `time_us` of the last change.
  std::int64_t time_us() const { return time_us_; }
  std::size_t bytes() const { return bytes_; }

  /// Returns at most `count` changes from a position on, which must not precede `begin()`.
  std::vector<std::shared_ptr<const ChangeEvent>> from(std::int64_t position,
                                                       std::size_t count) const {
    std::vector<std::shared_ptr<const ChangeEvent>> result;
    if (position >= end_) return result;
    const auto first = static_cast<std::size_t>(position - begin());
    count = std::min(count, changes_.size() - first);
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i) result.push_back(changes_[first + i]);
    return result;
  }

 private:
  const std::size_t max_bytes_;
  std::deque<std::shared_ptr<const ChangeEvent>> changes_;
  std::size_t bytes_ = 0;
  std::int64_t end_ = 1;
  std::int64_t time_us_ = 0;
};

/// Says why a client gets no changes, or no further changes.
struct FeedError {
  /// The HTTP status.
  unsigned status = 500;
  /// A single word, such as `CursorTooOld`.
  std::string error;
  std::string message;
};

/// A client begins with the next change, with the oldest change, after a position, or at a time.
struct StartLive {};
struct StartOldest {};
/// The client begins with the change after this position.
struct StartAfter {
  Position position;
};
/// The client begins with the first change whose `time_us` is this or later.
struct StartAt {
  std::int64_t time_us = 0;
};
using Start = std::variant<StartLive, StartOldest, StartAfter, StartAt>;

/// The start of a client that may begin.
struct Opened {
  std::int32_t timeline = 0;
  /// The position of the client's first change.
  std::int64_t next = 0;
  /// The client skips changes with a smaller `time_us`.
  std::int64_t since_us = 0;
};

/// A client of the reader. The reader calls these functions on its own thread.
class FeedClient {
 public:
  virtual ~FeedClient() = default;
  virtual StreamForm form() const = 0;
  /// Returns the timeline of the client's positions.
  virtual std::int32_t timeline() const = 0;
  /// Returns whether the client needs the record of a change.
  virtual bool wants(const ChangeEvent& event) const = 0;
  /// Returns the position of the first change that the client has not processed.
  virtual std::int64_t next_position() const = 0;
  /// Tells the client that there are more recent changes.
  virtual void more() = 0;
  /// Delivers the answer to `ChangeReader::read_older`.
  virtual void take(ChangePage page) = 0;
  /// Tells the client that it gets no further changes.
  virtual void fail(const FeedError& error) = 0;
};

/// Reads the change log for all clients, on its own thread and session. While there are clients it
/// reads each change once and keeps the recent changes, with the records that a client wants. It
/// checks the end of the log at intervals from `busy_pause` to `idle_pause`. Older changes are read
/// page by page for a client that lags, or whose filter was not known when a change was read; all
/// such clients take turns. After `start` any thread may call the functions.
class ChangeReader {
 public:
  struct Options {
    /// The maximum memory of the recent changes.
    std::size_t recent_bytes = std::size_t{64} * 1024 * 1024;
    PageLimits page = {};
    std::chrono::milliseconds busy_pause{50};
    std::chrono::milliseconds idle_pause{250};
  };

  /// `metrics` must outlive the reader.
  ChangeReader(postgres::Runtime& runtime, Options options, FeedMetrics& metrics);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// Returns the metrics, for the streams that use this reader.
  FeedMetrics& metrics() { return metrics_; }

  /// Checks where a client begins. The reader's thread delivers the answer.
  using OnOpen = std::function<void(const std::variant<Opened, FeedError>&)>;
  void open(Start start, OnOpen on_open);

  /// Lets the reader call the client from now on, until the client is destroyed. A client whose
  /// timeline is not that of the log fails.
  void add(std::weak_ptr<FeedClient> client);

  struct Recent {
    std::vector<std::shared_ptr<const ChangeEvent>> events;
    /// True if the position is older than the recent changes; the client must use `read_older`.
    bool is_older = false;
  };
  /// Returns at most `count` of the recent changes from a position on.
  Recent recent(std::int64_t from, std::size_t count) const;

  /// Requests a page from a position on. `time_us` is the time of the change before the page.
  void read_older(std::weak_ptr<FeedClient> client, std::int64_t from, std::int64_t time_us,
                  std::shared_ptr<const ChangeFilter> filter);

 private:
  struct OpenRequest {
    Start start;
    OnOpen on_open;
  };
  struct OlderRequest {
    std::weak_ptr<FeedClient> client;
    std::int64_t from = 0;
    std::int64_t time_us = 0;
    std::shared_ptr<const ChangeFilter> filter;
  };
  struct Waiting {
    std::deque<OpenRequest> open;
    std::deque<OlderRequest> older;
    std::vector<std::weak_ptr<FeedClient>> clients;
  };

  std::chrono::milliseconds round(postgres::LazySession& session, const std::stop_token& stop);
  std::chrono::milliseconds read(postgres::Session& session, const std::stop_token& stop);
  /// Reads the newest changes. Returns true if there were any.
  bool read_recent(postgres::Session& session, const LogState& state);
  void read_older_pages(postgres::Session& session, const std::stop_token& stop);
  void answer_open_requests(postgres::Session& session, const LogState& state);
  std::vector<std::shared_ptr<FeedClient>> clients();
  /// Measures the lag of the slowest clients: the number of changes that were read but that they
  /// have not processed.
  void measure_clients();
  /// Ends the streams of all clients with positions of other timelines. Such a client may have been
  /// added late, because it waited for the readers of other nodes.
  void fail_other_timelines(std::int32_t timeline);
  /// Ends the streams of all clients.
  void fail_all(const FeedError& error);
  void fail_open_requests();

  postgres::Runtime& runtime_;
  const Options options_;
  FeedMetrics& metrics_;
  Guarded<Waiting> waiting_;
  Guarded<RecentChanges> recent_;
  /// The timeline of the recent changes; 0 if it is unknown. Used only by the reader's thread.
  std::int32_t timeline_ = 0;
  std::chrono::milliseconds pause_;
  postgres::SessionThread thread_;
};

}  // namespace skua::streams
