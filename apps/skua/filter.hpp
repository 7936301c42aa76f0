#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "filter_choice.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua filter ...`.
struct FilterCommandFlags {
  FilterFlags names{.file_flag = "--file"};
  VerificationFlags verification;
  /// Of `exclude` and `include`.
  std::vector<std::string> accounts;
  std::vector<std::string> files;
  std::optional<std::string> database;
  bool json = false;
};
enum class FilterAction : std::uint8_t { Set, Add, Remove, Clear };

// All return the exit code.

int filter_show(const Settings& settings, const FilterCommandFlags& flags);
/// Prints the changes and their consequences.
int filter_change(const Settings& settings, const FilterCommandFlags& flags, FilterAction action);

/// Excludes accounts, or ends it.
int filter_exclude(const Settings& settings, const FilterCommandFlags& flags, bool exclude);

/// Removes the rows that the filter leaves out.
int filter_prune(const Settings& settings, const FilterCommandFlags& flags);

}  // namespace skua::cli
