#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"

namespace skua::cli {

/// `skua help`: the help of any command, as `--help` prints it; and all settings.
class HelpArguments final : public CommandArguments {
 public:
  explicit HelpArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  const CLI::App& root_;
  CLI::App* help_;
  std::vector<std::string> words_;
  bool is_markdown_ = false;
};

}  // namespace skua::cli
