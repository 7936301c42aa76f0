#include "pages_origin.hpp"

#include <fmt/format.h>

#include "listen_address.hpp"
#include "transport/endpoint.hpp"

namespace skua::cli {
namespace {

std::string origin_of_url(const Found& found) {
  const auto endpoint = transport::parse_http_url(found.value);
  if (endpoint.has_error() || !endpoint->query.empty()) {
    throw UsageError(
        fmt::format("{}: '{}': {}; an example is http://127.0.0.1:2580", found.origin, found.value,
                    endpoint.has_error() ? endpoint.error().message() : "a query is not expected"));
  }
  std::string origin = endpoint->http_url();
  while (origin.ends_with('/')) origin.pop_back();
  return origin;
}

/// The setting is the address on which `skua run` listens.
std::string origin_of_address(const Found& found) {
  ListenAddress address = listen_address(found);
  if (address.port == 0) throw UsageError(fmt::format("{}: port 0 names no pages", found.origin));
  if (address.address == "0.0.0.0") address.address = "127.0.0.1";
  if (address.address == "::") address.address = "::1";
  return "http://" + address.text();
}

}  // namespace

std::string pages_origin(const Found& found) {
  if (found.value == "off") {
    throw UsageError(fmt::format("{} is off: `skua run` has no pages; name others with {}",
                                 found.origin, kHttp.flag));
  }
  return found.value.find("://") == std::string::npos ? origin_of_address(found)
                                                      : origin_of_url(found);
}

}  // namespace skua::cli
