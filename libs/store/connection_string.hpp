#pragma once

#include <optional>
#include <string>

namespace skua::store {

/// The error in a connection string (`postgresql://...` or `key=value ...`), for users and without
/// its password; nothing if libpq can parse it. Does not connect.
std::optional<std::string> connection_string_problem(const std::string& text);

/// The connection string with `***` instead of its password, for messages. In a malformed string it
/// hides everything that may be a password.
std::string without_password(std::string text);

}  // namespace skua::store
