#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "store/session.hpp"
#include "writer/counters.hpp"
#include "writer/write_turns.hpp"

namespace skua::writer {

/// A worker's connection, made when it is first needed, and what happens when the server fails:
/// a wait that doubles up to some seconds, and a new connection where the old one may be at fault.
/// Lives on the worker's thread.
class RetryingSession {
 public:
  struct Options {
    std::string database_url;
    /// Whose it is, in words, for the log and for who looks at the server's sessions.
    std::string name;
    Counters& counters;
  };

  explicit RetryingSession(Options options) : options_(std::move(options)) {}

  /// Throws store::SqlError when it cannot connect.
  store::Session& get();

  /// Gives the turn back, waits, and takes a turn for the next try. False: stop was asked for.
  bool back_off(const store::SqlError& error, WriteTurns& turns,
                std::optional<WriteTurns::Turn>& turn, const std::stop_token& stop);

  /// The database accepted the statement.
  void succeeded();

 private:
  const Options options_;
  std::unique_ptr<store::Session> session_;
  int failures_ = 0;  // in a row
  /// When the first of them came, or the log was told last.
  std::chrono::steady_clock::time_point said_at_;
  std::mutex wait_mutex_;
  std::condition_variable_any wait_;
};

}  // namespace skua::writer
