#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"

namespace skua::cli {

/// `skua version`.
class VersionArguments final : public CommandArguments {
 public:
  explicit VersionArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* version_;
};

}  // namespace skua::cli
