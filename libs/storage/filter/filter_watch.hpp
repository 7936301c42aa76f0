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

/// The filter that a process goes by at this moment: each snapshot never changes, and is replaced
/// as a whole. At first everything passes. Any thread.
class CurrentFilter {
 public:
  using Snapshot = std::shared_ptr<const tables::Filter>;

  Snapshot get() const {
    return snapshot_.with([](const Snapshot& snapshot) { return snapshot; });
  }

  /// Replaces it, then calls the listeners, on this thread.
  void set(Snapshot next) {
    snapshot_.with([&](Snapshot& snapshot) { snapshot = std::move(next); });
    listeners_.with([](const auto& listeners) {
      for (const auto& [owner, changed] : listeners) changed();
    });
  }

  /// `changed` must be quick. `owner` names it to `forget`, after which it is not called any more.
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

/// The filter that the command line asks for.
struct FilterChoice {
  tables::FilterContent names;
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
  /// Throws postgres::SqlError, and FilterError for a file that holds none.
  FilterWatch(postgres::Runtime& runtime, Options options, CurrentFilter& current);

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  /// One round. Throws postgres::SqlError. Not while the thread runs.
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
  /// The filter that is still to be stored.
  std::optional<tables::FilterContent> wanted_;
  postgres::SessionThread thread_;
};

}  // namespace skua::filter
