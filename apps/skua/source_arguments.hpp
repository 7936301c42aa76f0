#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "settings.hpp"
#include "source.hpp"

namespace skua::cli {

/// `skua source` and what stands below it, on the command line. Made before the parse; outlives it.
class SourceArguments {
 public:
  explicit SourceArguments(CLI::App& app);

  /// Calls the command of these that was named, if one was; gives its exit code.
  std::optional<int> run(const Settings& settings) const;

 private:
  CLI::App* add(const char* name, const char* what);

  SourceCommandFlags flags_;
  CLI::App* source_;
  CLI::App* list_;
  CLI::App* forget_;
};

}  // namespace skua::cli
