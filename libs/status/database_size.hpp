#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "store/lazy_session.hpp"
#include "store/session_thread.hpp"

namespace skua::status {

/// Measures the size of the database on disk, and notices a server that does not answer. Has a
/// thread and a connection of its own, so that a silent server delays nobody else. Never fails.
class DatabaseSize {
 public:
  struct Sample {
    Timestamp at;
    std::int64_t bytes = 0;
  };

  DatabaseSize(std::string database_url, const Clock& clock);

  void start() { thread_.start(); }

  /// The latest values; nothing: there are none. Any thread.
  std::optional<Sample> latest() const;
  /// Since when a query has had no answer, if that is unusually long. Any thread.
  std::optional<Timestamp> unanswered_since() const;

 private:
  void measure(store::LazySession& session);

  store::Runtime runtime_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::optional<Sample> latest_;
  /// The start of the query without an answer.
  struct Asked {
    Timestamp at;
    std::chrono::steady_clock::time_point steady;
  };
  std::optional<Asked> asked_;
  store::SessionThread thread_;
};

}  // namespace skua::status
