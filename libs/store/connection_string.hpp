#pragma once

#include <optional>
#include <string>

namespace skua::store {

/// What is wrong with a connection string (`postgresql://...` or `key=value ...`), for people and
/// without its password; nothing: libpq can parse it. Does not connect.
std::optional<std::string> connection_string_problem(const std::string& text);

/// The connection string with `***` in place of its password, for messages. Also for malformed
/// ones: what may be a password is hidden.
std::string without_password(std::string text);

}  // namespace skua::store
