#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "commands.hpp"

namespace skua::cli {

/// `skua identity` and its subcommand.
class IdentityArguments final : public CommandArguments {
 public:
  explicit IdentityArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* identity_;
  IdentityFlags flags_;
  CLI::App* import_;
  IdentityImportFlags import_flags_;
};

}  // namespace skua::cli
