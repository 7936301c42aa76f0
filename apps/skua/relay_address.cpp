#include "relay_address.hpp"

#include <fmt/format.h>

namespace skua::cli {

transport::Endpoint relay_address(const Found& found) {
  const auto endpoint = transport::parse_endpoint(found.value);
  if (endpoint.has_error()) {
    throw UsageError(fmt::format("{}: '{}': {}; an example is wss://relay1.us-east.bsky.network",
                                 found.origin, found.value, endpoint.error().message()));
  }
  return *endpoint;
}

}  // namespace skua::cli
