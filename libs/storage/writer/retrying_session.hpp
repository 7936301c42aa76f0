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

/// A worker's connection, made when it is first needed. After a failure of the server it waits, for
/// a time that doubles up to some seconds, and replaces the connection if that may be the cause.
/// Used on the worker's thread.
class RetryingSession {
 public:
  /// `name`: of the worker, for the log and for `pg_stat_activity`.
  RetryingSession(std::string database_url, std::string name)
      : database_url_(std::move(database_url)), name_(std::move(name)) {}

  /// Throws postgres::SqlError when it cannot connect.
  postgres::Session& get();

  /// Waits after a failure. False: a stop was requested.
  bool back_off(const postgres::SqlError& error, const std::stop_token& stop);

  /// The database accepted the statement.
  void succeeded() { failures_ = 0; }

 private:
  const std::string database_url_;
  const std::string name_;
  std::unique_ptr<postgres::Session> session_;
  int failures_ = 0;  // in a row
  /// The time of the first of them, or of the latest line in the log.
  std::chrono::steady_clock::time_point logged_at_;
  std::mutex wait_mutex_;
  std::condition_variable_any wait_;
};

}  // namespace skua::writer
