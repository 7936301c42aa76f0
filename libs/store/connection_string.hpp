#pragma once

#include <optional>
#include <string>

namespace skua::store {

/// The error in a connection string (`postgresql://...` or `key=value ...`), for users and without
/// its password; nothing: libpq can parse it. Does not connect.
std::optional<std::string> connection_string_problem(const std::string& text);

/// The connection string with `***` in place of its password, for messages. In malformed strings
/// everything that may be a password is hidden.
std::string without_password(std::string text);

}  // namespace skua::store
