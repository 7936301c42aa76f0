#pragma once

#include <filesystem>
#include <string>

namespace skua::cli {

/// UsageError, naming where the file was named (`--file`), unless it is there and may be read. A
/// pipe is one; a folder is not. Nothing is read.
void require_file(const std::string& origin, const std::filesystem::path& file);

}  // namespace skua::cli
