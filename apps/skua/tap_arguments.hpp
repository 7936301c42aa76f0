#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua tap` and what stands below it, on the command line. Made before the parse; outlives it.
class TapArguments {
 public:
  explicit TapArguments(CLI::App& app);

  /// Calls the command of these that was named, if one was; gives its exit code.
  std::optional<int> run(const Settings& settings) const;

 private:
  CLI::App* add(const char* name, const char* what);
  /// The same for one that takes accounts.
  CLI::App* add_for_accounts(const char* name, const char* what);

  TapFlags flags_;
  CLI::App* tap_;
  CLI::App* add_;
  CLI::App* remove_;
  CLI::App* info_;
  CLI::App* stats_;
};

}  // namespace skua::cli
