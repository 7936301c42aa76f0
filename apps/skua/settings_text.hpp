#pragma once

#include <optional>
#include <string>

#include "option.hpp"

namespace skua::cli {

/// All settings for people: their names, defaults and meanings.
std::string settings_text();

/// The same as a Markdown table, for docs/settings.md.
std::string settings_markdown();

/// A setting as it is in the file of --config, after its meaning and its default as comments.
/// Without a value it is commented out, with an example.
std::string setting_toml(const OptionText& setting, const std::optional<std::string>& value);

/// An example of the file of --config: every setting, commented out.
std::string settings_toml();

}  // namespace skua::cli
