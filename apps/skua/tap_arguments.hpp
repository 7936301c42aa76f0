#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "commands.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua tap` and what stands below it, on the command line.
class TapArguments final : public CommandArguments {
 public:
  explicit TapArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

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
