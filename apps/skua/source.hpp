#pragma once

#include <optional>
#include <string>

#include "settings.hpp"

namespace skua::cli {

/// `skua source ...`.
struct SourceCommandFlags {
  std::string name;
  std::optional<std::string> database;
  bool json = false;
};

// Both return the exit code.

int source_list(const Settings& settings, const SourceCommandFlags& flags);
int source_forget(const Settings& settings, const SourceCommandFlags& flags);

}  // namespace skua::cli
