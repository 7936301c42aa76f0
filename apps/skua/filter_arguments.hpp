#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "filter.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua filter` and what stands below it, on the command line.
class FilterArguments final : public CommandArguments {
 public:
  explicit FilterArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  CLI::App* add(const char* name, const char* what);
  CLI::App* add_with_names(const char* name, const char* what);

  FilterCommandFlags flags_;
  CLI::App* filter_;
  CLI::App* show_;
  CLI::App* set_;
  CLI::App* add_;
  CLI::App* remove_;
  CLI::App* clear_;
};

}  // namespace skua::cli
