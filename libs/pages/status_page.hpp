#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.hpp"
#include "http_server/exchange.hpp"
#include "store/session_thread.hpp"

namespace skua::pages {

/// The page `/status`: the JSON of `skua status --json`. A thread reads it for all requests that
/// wait; an answer counts for a second. While the database is down the answer is 503. Owned by one
/// thread.
class StatusPage {
 public:
  StatusPage(std::string database_url, std::function<void(const std::string& what)> on_defect);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// Answers a request. Does not block. Any thread.
  void answer(std::shared_ptr<http_server::Exchange> exchange);

 private:
  using Exchanges = std::vector<std::shared_ptr<http_server::Exchange>>;

  std::chrono::milliseconds round();
  http_server::Response response();

  const std::string database_url_;
  Guarded<Exchanges> waiting_;
  // The thread's.
  std::string latest_;
  std::chrono::steady_clock::time_point read_at_;
  store::SessionThread thread_;
};

}  // namespace skua::pages
