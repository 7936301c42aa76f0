#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "init_plan.hpp"

namespace skua::cli {

/// The file of settings of a plan: its settings with their values, and all others commented out.
/// Each has its meaning and default in comments. Pure.
std::string init_file_text(const InitPlan& plan);

/// Writes the file in one step: a reader sees the former content or the new one. Other users must
/// not read a password: without it the mode is 0644, with it 0600. A file that is replaced keeps
/// its owner, and its mode at most; a copy of it stays beside it, unless it has this content
/// already. Returns the name of the copy. Throws std::runtime_error; UsageError if Skua could not
/// read the text.
std::optional<std::filesystem::path> write_init_file(const std::filesystem::path& file,
                                                     const std::string& text, bool has_password);

}  // namespace skua::cli
