#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/guarded.hpp"
#include "change_feed/change_filter.hpp"
#include "change_feed/feed_metrics.hpp"
#include "change_feed/log_pages.hpp"
#include "change_feed/position.hpp"
#include "change_feed/recent_changes.hpp"
#include "store/session_thread.hpp"

namespace skua::change_feed {

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
  ChangeReader(store::Runtime& runtime, Options options, FeedMetrics& metrics);

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

  std::chrono::milliseconds round(store::LazySession& session, const std::stop_token& stop);
  std::chrono::milliseconds read(store::Session& session, const std::stop_token& stop);
  /// True: there were new changes.
  bool read_recent(store::Session& session, const LogState& state);
  void read_older_pages(store::Session& session, const std::stop_token& stop);
  void answer_open_requests(store::Session& session, const LogState& state);
  std::vector<std::shared_ptr<FeedClient>> clients();
  /// Counts the changes that the slowest clients have not looked at, of those that were read.
  void measure_clients();
  /// Ends all clients.
  void fail_all(const FeedError& error);
  void fail_open_requests();

  store::Runtime& runtime_;
  const Options options_;
  FeedMetrics& metrics_;
  Guarded<Waiting> waiting_;
  Guarded<RecentChanges> recent_;
  /// The timeline of the recent changes; 0: unknown. Of the thread.
  std::int32_t timeline_ = 0;
  std::chrono::milliseconds pause_;
  store::SessionThread thread_;
};

}  // namespace skua::change_feed
