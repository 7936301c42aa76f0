#include "transport/impl/redirect.hpp"

#include <string>

namespace skua::transport::impl {

Result<Endpoint> redirect_target(const Endpoint& from, std::string_view location) {
  const auto scheme_end = location.find(':');
  const auto path_begin = location.find_first_of("/?#");
  // A colon before any of these ends a scheme, even one that we refuse.
  if (scheme_end != std::string_view::npos && scheme_end < path_begin) {
    return parse_http_url(location);
  }
  const std::string scheme = from.tls ? "https:" : "http:";
  if (location.starts_with("//")) return parse_http_url(scheme + std::string(location));
  const std::string origin = scheme + "//" + from.authority();
  if (location.starts_with('/')) return parse_http_url(origin + std::string(location));
  if (location.starts_with('?')) return parse_http_url(origin + from.path + std::string(location));
  const auto folder = from.path.substr(0, from.path.rfind('/') + 1);
  return parse_http_url(origin + folder + std::string(location));
}

}  // namespace skua::transport::impl
