#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "repo.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua repo` and what stands below it, on the command line. Made before the parse; outlives it.
class RepoArguments {
 public:
  explicit RepoArguments(CLI::App& app);

  /// Calls the command of these that was named, if one was; gives its exit code.
  std::optional<int> run(const Settings& settings) const;

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
