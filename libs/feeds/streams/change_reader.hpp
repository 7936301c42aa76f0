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

/// The most recent changes, which all clients read. Not thread-safe.
class RecentChanges {
 public:
  /// It forgets the oldest changes beyond this memory.
  explicit RecentChanges(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Forgets everything; the next change has this position.
  void restart(std::int64_t next) {
    changes_.clear();
    bytes_ = 0;
    end_ = next;
    time_us_ = 0;
  }

  /// Appends the changes from `end()` on, all of them.
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

  /// The positions from `begin()` to before `end()` are here.
  std::int64_t begin() const { return end_ - static_cast<std::int64_t>(changes_.size()); }
  std::int64_t end() const { return end_; }
  /// `time_us` of the last change.
  std::int64_t time_us() const { return time_us_; }
  std::size_t bytes() const { return bytes_; }

  /// At most `count` changes from a position on, which is not before `begin()`.
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

/// Why a client gets no changes, or no more.
struct FeedError {
  /// Of HTTP.
  unsigned status = 500;
  /// One word, such as `CursorTooOld`.
  std::string error;
  std::string message;
};

/// Where a client begins.
struct StartLive {};
struct StartOldest {};
/// With the change after this one.
struct StartAfter {
  Position position;
};
/// With the changes whose `time_us` is this or later.
struct StartAt {
  std::int64_t time_us = 0;
};
using Start = std::variant<StartLive, StartOldest, StartAfter, StartAt>;

/// A client that may begin.
struct Opened {
  std::int32_t timeline = 0;
  /// The position of its first change.
  std::int64_t next = 0;
  /// It skips changes with a smaller `time_us`.
  std::int64_t since_us = 0;
};

/// A client of the reader. The reader calls it on its thread.
class FeedClient {
 public:
  virtual ~FeedClient() = default;
  virtual StreamForm form() const = 0;
  /// Whether it needs the record of a change.
  virtual bool wants(const ChangeEvent& event) const = 0;
  /// The position of the first change that it has not looked at.
  virtual std::int64_t next_position() const = 0;
  /// There are more recent changes.
  virtual void more() = 0;
  /// The answer to `ChangeReader::read_older`.
  virtual void take(ChangePage page) = 0;
  /// It gets no more changes.
  virtual void fail(const FeedError& error) = 0;
};

/// Reads the change log for all clients, on a thread and a session of its own. While there are
/// clients it reads each change once and keeps the recent ones, with the records that a client
/// wants. It looks at the end of the log every `busy_pause` to `idle_pause`. A client that lags, or
/// whose filter was not known when a change was read, gets older changes page by page; all such
/// clients take turns. Functions may be called by any thread, after `start`.
class ChangeReader {
 public:
  struct Options {
    /// Of the recent changes.
    std::size_t recent_bytes = std::size_t{64} * 1024 * 1024;
    PageLimits page = {};
    std::chrono::milliseconds busy_pause{50};
    std::chrono::milliseconds idle_pause{250};
  };

  /// `metrics` outlives it.
  ChangeReader(postgres::Runtime& runtime, Options options, FeedMetrics& metrics);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// For the streams that it serves.
  FeedMetrics& metrics() { return metrics_; }

  /// Checks where a client begins. The answer comes on the reader's thread.
  using OnOpen = std::function<void(const std::variant<Opened, FeedError>&)>;
  void open(Start start, OnOpen on_open);

  /// From now on the client gets calls, as long as it exists.
  void add(std::weak_ptr<FeedClient> client);

  struct Recent {
    std::vector<std::shared_ptr<const ChangeEvent>> events;
    /// The position is older: use `read_older`.
    bool is_older = false;
  };
  /// At most `count` changes from a position on.
  Recent recent(std::int64_t from, std::size_t count) const;

  /// Asks for a page from a position on. `time_us`: of the change before.
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
  /// True: there were new changes.
  bool read_recent(postgres::Session& session, const LogState& state);
  void read_older_pages(postgres::Session& session, const std::stop_token& stop);
  void answer_open_requests(postgres::Session& session, const LogState& state);
  std::vector<std::shared_ptr<FeedClient>> clients();
  /// Counts the changes that the slowest clients have not looked at, of those that were read.
  void measure_clients();
  /// Ends all clients.
  void fail_all(const FeedError& error);
  void fail_open_requests();

  postgres::Runtime& runtime_;
  const Options options_;
  FeedMetrics& metrics_;
  Guarded<Waiting> waiting_;
  Guarded<RecentChanges> recent_;
  /// The timeline of the recent changes; 0: unknown. Of the thread.
  std::int32_t timeline_ = 0;
  std::chrono::milliseconds pause_;
  postgres::SessionThread thread_;
};

}  // namespace skua::streams
