#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include "filter/current_filter.hpp"
#include "filter/filter_file.hpp"
#include "store/filter_table.hpp"
#include "store/session.hpp"
#include "store/session_thread.hpp"

namespace skua::filter {

/// The filter that the command line asks for.
struct FilterChoice {
  store::FilterContent names;
  /// Names more; read again when it changes.
  std::optional<std::string> file;
};

/// Keeps a process up to date with the stored filter: it checks every second for a change and
/// applies its consequences (docs/filter.md). It stores the filter of the command line at the
/// start, and of its file when the file changes. A thread and a connection of its own; while the
/// database is down, the filter stays.
class FilterWatch {
 public:
  struct Options {
    /// Nothing: the stored filter applies.
    std::optional<FilterChoice> choice;
    std::chrono::milliseconds interval{1'000};
    /// How many intervals pass between two checks of the lists of accounts.
    int lists_every = 10;
    FileAccess files = file_system();
  };

  /// Sets the stored filter if it was told to, and loads it into `current`, which outlives it.
  /// Throws store::SqlError, and FilterError for a file that holds none.
  FilterWatch(store::Runtime& runtime, Options options, CurrentFilter& current);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// One round. Throws store::SqlError. Not while the thread runs.
  void look() { look(thread_.session().get(), {}); }

 private:
  void look(store::Session& session, const std::stop_token& stop);
  void look_at_file();
  void set_stored(store::Session& session);
  void adopt(store::Session& session, const std::stop_token& stop);

  const Options options_;
  CurrentFilter& current_;
  std::optional<FilterFile> file_;
  int rounds_ = 0;
  /// The filter that is still to be stored.
  std::optional<store::FilterContent> wanted_;
  store::SessionThread thread_;
};

}  // namespace skua::filter
