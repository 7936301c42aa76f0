#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "filter/filter_file.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "tables/filter_table.hpp"

namespace skua::filter {

/// The filter that a process applies now. A snapshot never changes: a new filter replaces the whole
/// snapshot. Before the first `set`, everything passes. Any thread may use it.
class CurrentFilter {
 public:
  using Snapshot = std::shared_ptr<const tables::Filter>;

  Snapshot get() const {
    return snapshot_.with([](const Snapshot& snapshot) { return snapshot; });
  }

  /// Replaces the filter, then calls the listeners on the calling thread.
  void set(Snapshot next) {
    snapshot_.with([&](Snapshot& snapshot) { snapshot = std::move(next); });
    listeners_.with([](const auto& listeners) {
      for (const auto& [owner, changed] : listeners) changed();
    });
  }

  /// Adds a listener. `changed` must be quick. `forget` with the same `owner` removes the listener.
  void listen(const void* owner, std::function<void()> changed) {
    listeners_.with([&](auto& listeners) { listeners.emplace_back(owner, std::move(changed)); });
  }
  void forget(const void* owner) {
    listeners_.with([&](auto& listeners) {
      std::erase_if(listeners, [&](const auto& listener) { return listener.first == owner; });
    });
  }

 private:
  using Listeners = std::vector<std::pair<const void*, std::function<void()>>>;

  Guarded<Snapshot> snapshot_{std::make_shared<const tables::Filter>()};
  Guarded<Listeners> listeners_;
};

/// The filter that the command line specifies.
struct FilterChoice {
  tables::FilterContent names;
  /// A file with more names, which is read again when it changes.
  std::optional<std::string> file;
};

/// Keeps a process up to date with the stored filter: it checks every second for a change and
/// applies its consequences (docs/filter.md). It stores the filter of the command line at the
/// start, and the filter of the file when the file changes. It has a thread and a connection of its
/// own. While the database is not reachable, the filter does not change.
class FilterWatch {
 public:
  struct Options {
    /// Without a choice, the stored filter applies.
    std::optional<FilterChoice> choice;
    std::chrono::milliseconds interval{1'000};
    /// The number of intervals between two checks of the lists of accounts.
    int lists_every = 10;
    FileAccess files = file_system();
  };

  /// Stores the filter if `options` has a choice, and loads the stored filter into `current`, which
  /// outlives the FilterWatch. Throws postgres::SqlError, and FilterError for a file without a
  /// valid filter.
  FilterWatch(postgres::Runtime& runtime, Options options, CurrentFilter& current);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// Executes one round. Throws postgres::SqlError. Do not call it while the thread runs.
  void look() { look(thread_.session().get(), {}); }

 private:
  void look(postgres::Session& session, const std::stop_token& stop);
  void look_at_file();
  void set_stored(postgres::Session& session);
  void adopt(postgres::Session& session, const std::stop_token& stop);

  const Options options_;
  CurrentFilter& current_;
  std::optional<FilterFile> file_;
  int rounds_ = 0;
  /// The filter that must still be stored.
  std::optional<tables::FilterContent> wanted_;
  postgres::SessionThread thread_;
};

}  // namespace skua::filter
