#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/pending_heads.hpp"
#include "postgres/locks.hpp"
#include "postgres/session_thread.hpp"
#include "tables/cursor_store.hpp"
#include "tables/repository_table.hpp"

namespace skua::pipeline {

/// Owns a source for this process, or several that stand by for each other. It holds their session
/// advisory locks, which keep a second process away. At an interval, and at the end, it saves the
/// watermarks as cursors, together with the verified heads, in one transaction. It has a thread and
/// a connection of its own.
///
/// While the database is down nothing is saved. Afterwards the locks are taken again; if the server
/// has not noticed the end of this process's former session, that session is terminated. If another
/// process holds a lock for some minutes, this process must stop.
class CursorSaver {
 public:
  struct Options {
    std::vector<std::string> sources;
    std::chrono::milliseconds interval{10'000};
    /// The verified heads to save with the cursor; null: none.
    PendingHeads* heads = nullptr;
    tables::Resync resync = tables::Resync::Complete;
  };
  using Watermark = InFlightList::Watermark;

  /// Gives the values to save. Called on the saver's thread.
  struct Progress {
    /// For the source of this index.
    std::function<std::optional<Watermark>(std::size_t)> watermark;
    std::function<InFlightList::Ticket()> first_unfinished;
    /// The JSON that `skua status` shows of a source.
    std::function<std::string(std::size_t)> metrics;
  };

  /// Takes the locks. Throws postgres::SourceBusy with the name of the owner, std::runtime_error
  /// while a bootstrap is open, or postgres::SqlError.
  CursorSaver(postgres::Runtime& runtime, Options options);
  ~CursorSaver();
  CursorSaver(const CursorSaver&) = delete;
  CursorSaver& operator=(const CursorSaver&) = delete;

  /// The cursor that was saved before this process began; nothing: none.
  std::optional<std::int64_t> saved(std::size_t source = 0) const {
    return saved_at_start_[source];
  }

  /// Starts saving. That another process has taken the source is a fatal error.
  void start(Progress progress);

  /// Saves now, on the saver's thread, instead of at the end of the interval. Any thread.
  void save_soon() { thread_.notify(); }

  /// Ends the thread and saves a last time. False: that failed, and the stored cursor is an earlier
  /// one.
  bool stop();

  /// Ends the thread and saves nothing.
  void drop() { thread_.stop(); }

 private:
  /// Takes the locks with a new session.
  void prepare(postgres::Session& session);
  /// One round: saves, and returns the time until the next.
  std::chrono::milliseconds save_or_wait();
  /// Another session holds the lock. False: for so long that it must be another process.
  bool waits_for(const postgres::SourceBusy& busy);
  /// One round. Throws postgres::ServerError when the database is down, postgres::SourceBusy when
  /// another process holds the source.
  void save();
  void save_position(postgres::Session& session);

  const Options options_;
  /// PostgreSQL's.
  const Clock& clock_;
  /// Since when another session holds a lock; nothing: none does.
  std::optional<std::chrono::steady_clock::time_point> busy_since_;
  /// In the thread's session: they go before it.
  std::vector<std::unique_ptr<postgres::SourceLock>> locks_;
  // By source.
  std::vector<std::optional<std::int64_t>> saved_at_start_;
  std::vector<std::optional<std::int64_t>> saved_;
  Progress progress_;
  postgres::SessionThread thread_;
};

}  // namespace skua::pipeline
