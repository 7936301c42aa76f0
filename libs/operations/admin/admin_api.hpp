#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "admin/action.hpp"
#include "admin/guard.hpp"
#include "base/guarded.hpp"
#include "base/metric.hpp"
#include "base/time.hpp"
#include "http_server/server.hpp"
#include "postgres/session_thread.hpp"

namespace skua::admin {

/// How a request to the admin API ended.
enum class RequestEnd : std::uint8_t {
  Executed,
  /// The arguments were wrong, or the state of the object did not allow the action.
  Rejected,
  /// The database did not answer, or too many actions were waiting.
  Failed,
  /// The request had no token, or a wrong token.
  Unauthorized,
};
inline constexpr std::size_t kRequestEnds = 4;
const char* name_of_request_end(std::size_t index);

/// Returns the end that corresponds to the status of an answer.
RequestEnd end_of_request(unsigned status);

/// Metrics of the admin API. Any thread.
struct AdminMetrics {
  CounterFamily<kRequestEnds> requests{"",         "skua_admin_requests_total",
                                       "requests", "Requests to the admin API, by result",
                                       "result",   name_of_request_end};
};

/// The admin API of a running process: `GET /admin/check`, and a POST path for each action
/// (action.hpp). A guard refuses requests without the token before their body is read. One thread
/// with its own session executes the actions in their order; waiting requests are in a bounded
/// queue. Each action is logged with its result. Owned by one thread.
class AdminApi {
 public:
  /// The maximum number of waiting requests.
  static constexpr std::size_t kQueue = 16;
  /// A request that has waited longer is not executed, so that its client gets an answer soon.
  static constexpr std::chrono::seconds kLongestWait{20};

  struct Options {
    Guard::Options guard;
  };

  AdminApi(postgres::Runtime& runtime, Options options);
  AdminApi(const AdminApi&) = delete;
  AdminApi& operator=(const AdminApi&) = delete;

  /// Adds the paths, and `/admin/*`, to a server. The server must stop before this object ends.
  void add_routes(http_server::Server::Routes& routes);

  /// Returns whether there is a token.
  bool is_enabled() const { return guard_.has_token(); }
  /// Any thread.
  const AdminMetrics& metrics() const { return metrics_; }

  /// Starts the thread, if there is a token.
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
  std::chrono::milliseconds round(postgres::LazySession& session);
  http_server::Response respond(postgres::LazySession& session, const Waiting& waiting) const;

  const Clock& clock_;
  Guard guard_;
  AdminMetrics metrics_;
  Guarded<std::deque<Waiting>> waiting_;
  postgres::SessionThread thread_;
};

}  // namespace skua::admin
