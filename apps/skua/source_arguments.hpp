#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "settings.hpp"
#include "source.hpp"

namespace skua::cli {

/// `skua source` and what stands below it, on the command line.
class SourceArguments final : public CommandArguments {
 public:
  explicit SourceArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);

  SourceCommandFlags flags_;
  CLI::App* source_;
  CLI::App* list_;
  CLI::App* forget_;
};

}  // namespace skua::cli
