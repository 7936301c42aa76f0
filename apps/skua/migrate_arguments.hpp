#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"

namespace skua::cli {

/// `skua migrate`.
class MigrateArguments final : public CommandArguments {
 public:
  explicit MigrateArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* migrate_;
  std::optional<std::string> database_;
};

}  // namespace skua::cli
