#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "ingest/pending_heads.hpp"
#include "store/cursor_store.hpp"
#include "store/repository_table.hpp"
#include "store/session.hpp"
#include "store/source_lock.hpp"
#include "writer/in_flight.hpp"

namespace skua::ingest {

/// Owns a source on behalf of this process, or several that stand by for each other: holds the
/// session advisory locks that keep a second process away, and saves the watermarks as cursors, and
/// where the verified repositories stand then, in one transaction, at an interval and at the end. A
/// connection of its own, on a thread of its own. While the database is away nothing is saved; the
/// locks are taken anew when it is back, from a former connection of this process if the server has
/// not noticed its end; another process that has one is waited for some minutes, and then this one
/// must stop.
class CursorSaver {
 public:
  struct Options {
    std::string database_url;
    std::vector<std::string> sources;
    std::chrono::milliseconds interval{10'000};
    /// What is saved with the cursor of the repositories that were verified; null: nothing.
    PendingHeads* heads = nullptr;
    store::Resync resync = store::Resync::Complete;
  };
  using Watermark = writer::InFlightList::Watermark;

  /// Where what is saved comes from. Called on the saver's thread.
  struct Progress {
    /// Of the source of this index.
    std::function<std::optional<Watermark>(std::size_t)> watermark;
    std::function<writer::InFlightList::Ticket()> first_unfinished;
    /// The JSON that `skua status` shows of a source.
    std::function<std::string(std::size_t)> metrics;
  };

  /// Takes the locks. Throws store::SourceBusy, naming the holder, std::runtime_error while a
  /// bootstrap is open, or store::SqlError.
  CursorSaver(Options options, const Clock& server_clock);
  ~CursorSaver();

  /// The cursor that was saved last, by this process or one before; nothing: none ever was.
  std::optional<std::int64_t> saved(std::size_t source = 0) const {
    return saved_at_start_[source];
  }

  /// Starts saving. `on_lost` is called when another process has taken the source.
  void start(Progress progress, std::function<void(const std::string&)> on_lost);

  /// Saves now instead of at the end of the interval, on the saver's thread. Any thread.
  void save_soon();

  /// Ends the thread and saves a last time. False: that was not possible, the last saved cursor
  /// stands.
  bool stop();

  /// Ends the thread and saves nothing.
  void drop();

 private:
  void run(const std::stop_token& stop);
  void connect();
  /// Another session has the source. False: for so long that it is another process's.
  bool waits_for(const store::SourceBusy& busy);
  /// One round. Throws store::ServerError when the database is away, store::SourceBusy when another
  /// process has the source.
  void save();
  void save_position();

  const Options options_;
  const Clock& server_clock_;
  std::unique_ptr<store::Session> session_;
  /// Since when another session has a source; nothing: none has.
  std::optional<std::chrono::steady_clock::time_point> busy_since_;
  std::vector<std::unique_ptr<store::SourceLock>> locks_;
  // By source.
  std::vector<std::optional<std::int64_t>> saved_at_start_;
  std::vector<std::optional<std::int64_t>> saved_;
  Progress progress_;
  std::function<void(const std::string&)> on_lost_;
  std::mutex wait_mutex_;
  bool soon_ = false;
  std::condition_variable_any wait_;
  std::jthread thread_;
};

}  // namespace skua::ingest
