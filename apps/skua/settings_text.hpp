#pragma once

#include <string>

namespace skua::cli {

/// All settings for people: where each may stand, its default and its meaning.
std::string settings_text();

/// The same as a table of Markdown: the one of README.md.
std::string settings_markdown();

}  // namespace skua::cli
