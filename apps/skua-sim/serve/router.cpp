#include "serve/router.hpp"

#include <optional>
#include <utility>

namespace skua::sim {
namespace {

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    segments.emplace_back(segment);
    path.remove_prefix(segment.size());
  }
  return segments;
}

/// Returns the values of the route's names in these segments; nothing if the route does not match.
std::optional<Request::Arguments> match(const std::vector<std::string>& route,
                                        const std::vector<std::string>& segments) {
  if (route.size() != segments.size()) return std::nullopt;
  Request::Arguments named;
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (route[i].starts_with(':')) {
      named[route[i].substr(1)] = segments[i];
    } else if (route[i] != segments[i]) {
      return std::nullopt;
    }
  }
  return named;
}

}  // namespace

void Router::add(std::string_view method, std::string_view path, Handler handler) {
  routes_.push_back({std::string(method), split(path), std::move(handler)});
}

Response Router::answer(Request request) const {
  const auto segments = split(request.path);
  const auto method = request.method == "HEAD" ? "GET" : request.method;
  bool other_method = false;
  for (const auto& route : routes_) {
    auto named = match(route.segments, segments);
    if (!named) continue;
    if (route.method != method) {
      other_method = true;
      continue;
    }
    request.segments = *std::move(named);
    return route.handler(request);
  }
  if (other_method) return error_response(405, "MethodNotAllowed", "another method is wanted here");
  return error_response(404, "NotFound", "no such path");
}

}  // namespace skua::sim
