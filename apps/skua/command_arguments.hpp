#pragma once

#include <optional>

#include "settings.hpp"

namespace skua::cli {

/// A command with its subcommands, as the command line has them. A subclass declares them and their
/// options in its constructor. Made before the parse; outlives it.
class CommandArguments {
 public:
  CommandArguments() = default;
  virtual ~CommandArguments() = default;
  CommandArguments(const CommandArguments&) = delete;
  CommandArguments& operator=(const CommandArguments&) = delete;

  /// Runs the command if the command line named it; gives its exit code. Nothing: another was
  /// named.
  virtual std::optional<int> run(const Settings& settings) const = 0;
};

}  // namespace skua::cli
