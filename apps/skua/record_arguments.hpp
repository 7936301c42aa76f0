#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "commands.hpp"

namespace skua::cli {

/// `skua record`.
class RecordArguments final : public CommandArguments {
 public:
  explicit RecordArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* record_;
  RecordFlags flags_;
};

}  // namespace skua::cli
