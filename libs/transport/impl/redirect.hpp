#pragma once

#include <string_view>

#include "base/result.hpp"
#include "transport/endpoint.hpp"

namespace skua::transport::impl {

/// Resolves a Location header against a URL (RFC 3986, section 5.2): an absolute URL, `//host/...`,
/// an absolute or relative path, a query alone, or nothing, which refers to the same URL. Without
/// the fragment. Errors: errc::url_...
Result<Endpoint> redirect_target(const Endpoint& from, std::string_view location);

}  // namespace skua::transport::impl
