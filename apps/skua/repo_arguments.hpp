#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "repo.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua repo` and what stands below it, on the command line.
class RepoArguments final : public CommandArguments {
 public:
  explicit RepoArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  void add_resync();
  void add_info();

  CLI::App* repo_;
  CLI::App* resync_ = nullptr;
  CLI::App* info_ = nullptr;
  RepoResyncFlags resync_flags_;
  RepoInfoFlags info_flags_;
};

}  // namespace skua::cli
