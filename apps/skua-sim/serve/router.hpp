#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "request.hpp"
#include "response.hpp"

namespace skua::sim {

/// Which handler answers which path. Handlers run on the thread of the io_context and must not wait
/// for anything.
class Router {
 public:
  using Handler = std::function<Response(const Request&)>;

  /// `path`: segments that begin with a colon stand for any one segment, `/:did/log/audit`. The
  /// first route that fits is taken.
  void get(std::string_view path, Handler handler) { add("GET", path, std::move(handler)); }
  void post(std::string_view path, Handler handler) { add("POST", path, std::move(handler)); }

  /// The handler's answer. HEAD is answered as GET, whoever writes leaves the body out. 404 and
  /// 405 when nothing fits.
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
