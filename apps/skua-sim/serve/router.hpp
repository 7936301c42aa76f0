#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http_message.hpp"

namespace skua::sim {

/// Maps paths to handlers. Handlers run on the thread of the io_context and must not block.
class Router {
 public:
  using Handler = std::function<Response(const Request&)>;

  /// Adds a route. A segment of `path` that begins with a colon matches any one segment, as in
  /// `/:did/log/audit`. The first matching route is used.
  void get(std::string_view path, Handler handler) { add("GET", path, std::move(handler)); }
  void post(std::string_view path, Handler handler) { add("POST", path, std::move(handler)); }

  /// Returns the handler's answer, or 404 or 405 if no route matches. HEAD is answered like GET,
  /// and the writer omits the body.
  Response answer(Request request) const;

 private:
  struct Route {
    std::string method;
    std::vector<std::string> segments;
    Handler handler;
  };
  void add(std::string_view method, std::string_view path, Handler handler);

  std::vector<Route> routes_;
};

}  // namespace skua::sim
