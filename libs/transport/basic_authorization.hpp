#pragma once

#include <string>
#include <string_view>

namespace skua::transport {

/// The value of an Authorization header for this user and password (RFC 7617). `user` has no colon.
std::string basic_authorization(std::string_view user, std::string_view password);

}  // namespace skua::transport
