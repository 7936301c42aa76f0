#pragma once

#include <optional>

#include <CLI/CLI.hpp>

#include "command_arguments.hpp"
#include "commands.hpp"
#include "settings.hpp"

namespace skua::cli {

/// `skua backfill` and what stands below it, on the command line.
class BackfillArguments final : public CommandArguments {
 public:
  explicit BackfillArguments(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  void add_request();
  void add_status();
  CLI::App* add_change(const char* name, const char* what, BackfillJobsFlags& flags);

  CLI::App* backfill_;
  BackfillFlags flags_;
  CLI::App* status_;
  StatusFlags status_flags_;
  CLI::App* retry_;
  BackfillJobsFlags retry_flags_;
  CLI::App* cancel_;
  BackfillJobsFlags cancel_flags_;
};

/// The flags of `skua run` that ask for history.
void add_history_of_run(CLI::App* command, HistoryFlags& flags);

}  // namespace skua::cli
