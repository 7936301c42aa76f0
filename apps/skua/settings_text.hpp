#pragma once

#include <string>

namespace skua::cli {

/// All settings for people: their names, defaults and meanings.
std::string settings_text();

/// The same as a Markdown table, for README.md.
std::string settings_markdown();

}  // namespace skua::cli
