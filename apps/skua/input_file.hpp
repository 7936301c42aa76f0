#pragma once

#include <filesystem>
#include <string>

namespace skua::cli {

/// Throws UsageError, which names the flag (`--file`), unless the file exists and can be read. A
/// pipe is accepted, a folder is not. Reads nothing.
void require_file(const std::string& origin, const std::filesystem::path& file);

}  // namespace skua::cli
