#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"

namespace skua::cli {

/// `skua inspect` and its subcommands.
class InspectArguments final : public CommandArguments {
 public:
  explicit InspectArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* inspect_;
  CLI::App* frames_;
  CLI::App* repo_;
  std::string file_;
  std::optional<std::filesystem::path> did_docs_;
  bool json_ = false;
};

}  // namespace skua::cli
