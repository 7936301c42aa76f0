#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "store/session.hpp"

namespace skua::store {

/// A database session that connects on first use, and reconnects after it broke. One thread at a
/// time.
class LazySession {
 public:
  /// `name`: shown in `pg_stat_activity`. `prepare`: called with each new session before its first
  /// use. If it throws, `get` throws the same exception. A broken session still exists while its
  /// successor is prepared.
  LazySession(std::string database_url, std::string name,
              std::function<void(Session&)> prepare = nullptr)
      : database_url_(std::move(database_url)),
        name_(std::move(name)),
        prepare_(std::move(prepare)) {}

  /// Throws SqlError when it cannot connect.
  Session& get() {
    if (!is_connected()) {
      auto session = std::make_unique<Session>(database_url_, name_);
      if (prepare_) prepare_(*session);
      session_ = std::move(session);
    }
    return *session_;
  }

  /// Whether `get` would return without connecting.
  bool is_connected() const { return session_ && session_->connected(); }
  /// Closes the session: the next `get` connects.
  void reset() { session_.reset(); }

 private:
  const std::string database_url_;
  const std::string name_;
  const std::function<void(Session&)> prepare_;
  std::unique_ptr<Session> session_;
};

}  // namespace skua::store
