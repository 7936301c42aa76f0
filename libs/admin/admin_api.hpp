#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "admin/action.hpp"
#include "admin/admin_metrics.hpp"
#include "admin/guard.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"
#include "http_server/server.hpp"
#include "store/session_thread.hpp"

namespace skua::admin {

/// The admin API of a running process: `GET /admin/check`, and a POST path for each action
/// (action.hpp). A guard refuses requests without the token before their body is read. One thread
/// with a session of its own executes the actions in their order; the requests wait in a bounded
/// queue. Each action is logged with its result. Owned by one thread.
class AdminApi {
 public:
  /// Requests that wait.
  static constexpr std::size_t kQueue = 16;
  /// A request that has waited longer is not executed: its client has an answer soon.
  static constexpr std::chrono::seconds kLongestWait{20};

  struct Options {
    Guard::Options guard;
  };

  AdminApi(store::Runtime& runtime, Options options);
  AdminApi(const AdminApi&) = delete;
  AdminApi& operator=(const AdminApi&) = delete;

  /// Adds the paths, and `/admin/*`, to a server, which must stop before this object ends.
  void add_routes(http_server::Server::Routes& routes);

  /// Whether there is a token.
  bool is_enabled() const { return guard_.has_token(); }
  /// Any thread.
  const AdminMetrics& metrics() const { return metrics_; }

  /// Without a token there is no thread.
  void start();
  /// Idempotent.
  void stop() { thread_.stop(); }

 private:
  struct Waiting {
    const Action* action = nullptr;
    Arguments arguments;
    std::shared_ptr<http_server::Exchange> exchange;
    Timestamp since;
  };

  void count(const http_server::Response& response);
  void accept(const Action& action, const std::shared_ptr<http_server::Exchange>& exchange);
  std::chrono::milliseconds round(store::LazySession& session);
  http_server::Response respond(store::LazySession& session, const Waiting& waiting) const;

  const Clock& clock_;
  Guard guard_;
  AdminMetrics metrics_;
  Guarded<std::deque<Waiting>> waiting_;
  store::SessionThread thread_;
};

}  // namespace skua::admin
