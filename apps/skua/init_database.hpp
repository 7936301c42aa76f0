#pragma once

#include <string>

namespace skua::cli {

/// Makes the database of a URL exist: creates it if it is missing and the role of the URL may do
/// so. Otherwise throws std::runtime_error with the reason and the commands for a superuser. Prints
/// what it has created.
void create_missing_database(const std::string& url);

}  // namespace skua::cli
