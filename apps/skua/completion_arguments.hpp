#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"

namespace skua::cli {

/// `skua completion` and its subcommands, one for each shell.
class CompletionArguments final : public CommandArguments {
 public:
  explicit CompletionArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* completion_;
};

}  // namespace skua::cli
