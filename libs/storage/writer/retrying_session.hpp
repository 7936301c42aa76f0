#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "postgres/session.hpp"

namespace skua::writer {

/// The connection of a worker, which is made at its first use. After a failure of the server,
/// `back_off` waits for a time that doubles up to some seconds, and replaces the connection if the
/// connection may be the cause. It is used on the worker's thread.
class RetryingSession {
 public:
  /// `name` is the name of the worker, for the log and for `pg_stat_activity`.
  RetryingSession(std::string database_url, std::string name)
      : database_url_(std::move(database_url)), name_(std::move(name)) {}

  /// Throws postgres::SqlError when it cannot connect.
  postgres::Session& get();

  /// Waits after a failure. Returns false if a stop was requested.
  bool back_off(const postgres::SqlError& error, const std::stop_token& stop);

  /// Reports that the database accepted the statement, so that the next wait is short.
  void succeeded() { failures_ = 0; }

 private:
  const std::string database_url_;
  const std::string name_;
  std::unique_ptr<postgres::Session> session_;
  int failures_ = 0;  // failures without a success between them
  /// The time of the first of these failures, or of the latest line in the log.
  std::chrono::steady_clock::time_point logged_at_;
  std::mutex wait_mutex_;
  std::condition_variable_any wait_;
};

}  // namespace skua::writer
