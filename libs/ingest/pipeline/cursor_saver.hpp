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

/// Owns a source for this process, or several sources that stand by for each other. It holds their
/// session advisory locks, which keep a second process away. At an interval, and at the end, it
/// saves the watermarks as cursors, together with the verified heads, in one transaction. It has a
/// thread and a connection of its own.
///
/// While the database is not reachable, nothing is saved. After that the saver takes the locks
/// again. If the server has not noticed the end of this process's former session, the saver
/// terminates that session. If another process holds a lock for some minutes, this process must
/// stop.
class CursorSaver {
 public:
  struct Options {
    std::vector<std::string> sources;
    std::chrono::milliseconds interval{10'000};
    /// The verified heads to save with the cursor. Null means that there are none.
    PendingHeads* heads = nullptr;
    tables::Resync resync = tables::Resync::Complete;
  };
  using Watermark = InFlightList::Watermark;

  /// Supplies the values to save. The saver's thread calls the functions.
  struct Progress {
    /// Returns the watermark of the source with this index.
    std::function<std::optional<Watermark>(std::size_t)> watermark;
    std::function<InFlightList::Ticket()> first_unfinished;
    /// Returns the JSON of a source for `skua status`.
    std::function<std::string(std::size_t)> metrics;
  };

  /// Takes the locks. Throws postgres::SourceBusy with the name of the owner, std::runtime_error
  /// while a bootstrap is open, or postgres::SqlError.
  CursorSaver(postgres::Runtime& runtime, Options options);
  ~CursorSaver();
  CursorSaver(const CursorSaver&) = delete;
  CursorSaver& operator=(const CursorSaver&) = delete;

  /// Returns the cursor that was saved before this process began, or nothing if there was none.
  std::optional<std::int64_t> saved(std::size_t source = 0) const {
    return saved_at_start_[source];
  }

  /// Returns the cursors of groups that were ahead of it.
  const std::optional<tables::GroupCursors>& group_cursors(std::size_t source) const {
    return groups_at_start_[source];
  }

  /// Starts saving. If another process has taken the source, the saver reports a fatal error.
  void start(Progress progress);

  /// Saves at once, on the saver's thread, instead of at the end of the interval. Any thread may
  /// call it.
  void save_soon() { thread_.notify(); }

  /// Ends the thread and saves a last time. Returns false if the save failed. The stored cursor is
  /// then an earlier one.
  bool stop();

  /// Ends the thread and saves nothing.
  void drop() { thread_.stop(); }

 private:
  /// Takes the locks with a new session.
  void prepare(postgres::Session& session);
  /// Executes one round: saves, and returns the time until the next round.
  std::chrono::milliseconds save_or_wait();
  /// Decides whether to wait while another session holds the lock. Returns false if the session has
  /// held it for so long that it must belong to another process.
  bool waits_for(const postgres::SourceBusy& busy);
  /// Saves once. Throws postgres::ServerError if the database is not reachable, and
  /// postgres::SourceBusy if another process holds the source.
  void save();
  void save_position(postgres::Session& session);

  const Options options_;
  /// PostgreSQL's clock.
  const Clock& clock_;
  /// The time since which another session holds a lock, or nothing if none does.
  std::optional<std::chrono::steady_clock::time_point> busy_since_;
  /// The locks refer to the thread's session, and must be destroyed before it.
  std::vector<std::unique_ptr<postgres::SourceLock>> locks_;
  // The index of these vectors is the source.
  std::vector<std::optional<std::int64_t>> saved_at_start_;
  std::vector<std::optional<tables::GroupCursors>> groups_at_start_;
  std::vector<std::optional<std::int64_t>> saved_;
  Progress progress_;
  postgres::SessionThread thread_;
};

}  // namespace skua::pipeline
