#pragma once

#include <string>

namespace skua::cli {

/// All settings for people: their names, defaults and meanings.
std::string settings_text();

/// The same as a Markdown table, for docs/settings.md.
std::string settings_markdown();

/// An example of the file of --config: every setting, commented out.
std::string settings_toml();

}  // namespace skua::cli
