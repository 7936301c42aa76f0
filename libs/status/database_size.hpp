#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/time.hpp"

namespace skua::status {

/// Watches how large the database is on disk, how many account numbers are used, which it warns of,
/// and whether the database answers at all: on a thread and a connection of its own, because a
/// server that neither answers nor hangs up must not keep others waiting. Never fails.
class DatabaseSize {
 public:
  struct Sample {
    Timestamp at;
    std::int64_t bytes = 0;
    /// Of all account numbers, 0 to 1.
    double actor_numbers_used = 0;
  };

  DatabaseSize(std::string database_url, const Clock& clock);
  ~DatabaseSize();
  DatabaseSize(const DatabaseSize&) = delete;
  DatabaseSize& operator=(const DatabaseSize&) = delete;

  void start();

  /// The latest; nothing: the database could not be asked. Any thread.
  std::optional<Sample> latest() const;
  /// Since when a question has been without an answer, if that is unusually long. Any thread.
  std::optional<Timestamp> unanswered_since() const;

 private:
  void run(const std::stop_token& stop);

  const std::string database_url_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::optional<Sample> latest_;
  /// The question that has no answer yet.
  struct Asked {
    Timestamp at;
    std::chrono::steady_clock::time_point steady;
  };
  std::optional<Asked> asked_;
  std::jthread thread_;
};

}  // namespace skua::status
