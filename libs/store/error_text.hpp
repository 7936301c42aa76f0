#pragma once

#include <string>
#include <string_view>

namespace skua::store {

/// An error message for a column of a table: its first 500 characters, printable. A host may answer
/// with a whole HTML page.
std::string error_text(std::string_view message);

}  // namespace skua::store
