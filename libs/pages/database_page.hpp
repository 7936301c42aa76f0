#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/guarded.hpp"
#include "http_server/exchange.hpp"
#include "store/session_thread.hpp"

namespace skua::pages {

/// How long an answer counts whose read took `duration`: 20 times as long as the read, but at least
/// a second and at most a minute. So reads take a twentieth of the time at most, unless one takes
/// longer than three seconds.
std::chrono::milliseconds lifetime_of_answer(std::chrono::milliseconds duration);

/// A page of JSON that is read from the database. A thread reads it for all requests that wait, and
/// for those that come during the lifetime of the answer; the header Age says how old it is. While
/// the database is down the answer is 503. Owned by one thread.
class DatabasePage {
 public:
  struct Options {
    /// For people: what a failure means.
    std::string failure;
    /// Called on the page's thread. Throws store::SqlError.
    std::function<nlohmann::json(store::LazySession&)> read;
  };

  DatabasePage(store::Runtime& runtime, Options options);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// Answers a request. Does not block. Any thread.
  void answer(std::shared_ptr<http_server::Exchange> exchange);

 private:
  using Exchanges = std::vector<std::shared_ptr<http_server::Exchange>>;

  std::chrono::milliseconds round(store::LazySession& session);
  http_server::Response response(store::LazySession& session);

  const Options options_;
  Guarded<Exchanges> waiting_;
  // The thread's.
  std::string latest_;
  std::chrono::steady_clock::time_point read_at_;
  std::chrono::steady_clock::time_point valid_until_;
  store::SessionThread thread_;
};

}  // namespace skua::pages
