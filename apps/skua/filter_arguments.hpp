#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "filter.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua filter` and what stands below it, on the command line. Made before the parse; outlives it.
class FilterArguments {
 public:
  explicit FilterArguments(CLI::App& app);

  /// Calls the command of these that was named, if one was; gives its exit code.
  std::optional<int> run(const Settings& settings) const;

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
