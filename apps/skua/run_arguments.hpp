#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "commands.hpp"

namespace skua::cli {

/// `skua run`.
class RunArguments final : public CommandArguments {
 public:
  explicit RunArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* run_;
  RunFlags flags_;
};

}  // namespace skua::cli
