#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "commands.hpp"

namespace skua::cli {

/// `skua replay`.
class ReplayArguments final : public CommandArguments {
 public:
  explicit ReplayArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* replay_;
  ReplayFlags flags_;
};

}  // namespace skua::cli
