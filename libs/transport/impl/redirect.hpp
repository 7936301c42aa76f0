#pragma once

#include <string_view>

#include "base/result.hpp"
#include "transport/endpoint.hpp"

namespace skua::transport::impl {

/// Where a Location header leads from a URL (RFC 3986, section 5.2): an absolute URL, `//host/...`,
/// an absolute path, or a path beside the present one. Errors: errc::url_...
Result<Endpoint> redirect_target(const Endpoint& from, std::string_view location);

}  // namespace skua::transport::impl
