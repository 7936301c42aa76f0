#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "filter_choice.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua filter ...`.
struct FilterCommandFlags {
  FilterFlags names{.file_flag = "--file"};
  VerificationFlags verification;
  std::optional<std::string> database;
  bool json = false;
};
enum class FilterAction : std::uint8_t { Set, Add, Remove, Clear };

// Both return the exit code.

int filter_show(const Settings& settings, const FilterCommandFlags& flags);
/// Prints the changes and their consequences.
int filter_change(const Settings& settings, const FilterCommandFlags& flags, FilterAction action);

}  // namespace skua::cli
