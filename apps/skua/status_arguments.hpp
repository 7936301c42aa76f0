#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "commands.hpp"

namespace skua::cli {

/// `skua status`.
class StatusArguments final : public CommandArguments {
 public:
  explicit StatusArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* status_;
  StatusFlags flags_;
};

}  // namespace skua::cli
