#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "app/chain_log.hpp"
#include "base/time.hpp"
#include "store/advisory_lock.hpp"
#include "store/cursor_store.hpp"
#include "store/repository_table.hpp"
#include "store/session.hpp"
#include "writer/in_flight.hpp"

namespace skua::app {

/// Owns a source on behalf of this process: holds the session advisory lock that keeps a second
/// process away, and saves the watermark as cursor, and where the verified repositories stand then,
/// at an interval and at the end. A connection of its own, on a thread of its own. While the
/// database is away nothing is saved; the lock is taken anew when it is back, and if another
/// process has it by then, this one must stop.
class CursorKeeper {
 public:
  struct Options {
    std::string database_url;
    std::string source;
    std::chrono::milliseconds interval{10'000};
    /// What is saved with the cursor of the repositories that were verified; null: nothing.
    ChainLog* chain = nullptr;
    store::Resync resync = store::Resync::Complete;
  };
  using Watermark = writer::InFlightList::Watermark;

  /// Where what is saved comes from. Called on the keeper's thread.
  struct Progress {
    std::function<std::optional<Watermark>()> watermark;
    std::function<writer::InFlightList::Ticket()> first_unfinished;
    /// The JSON that `skua status` shows.
    std::function<std::string()> figures;
  };

  /// Takes the lock. Throws store::SourceBusy, naming the holder, std::runtime_error while a
  /// bootstrap is open, or store::SqlError.
  CursorKeeper(Options options, const Clock& clock);
  ~CursorKeeper();

  /// The cursor that was saved last, by this process or one before; nothing: none ever was.
  std::optional<std::int64_t> saved() const { return saved_at_start_; }

  /// Starts saving. `on_lost` is called when another process has taken the source.
  void start(Progress progress, std::function<void(const std::string&)> on_lost);

  /// Saves now instead of at the end of the interval, on the keeper's thread. Any thread.
  void save_soon();

  /// Ends the thread and saves a last time. False: that was not possible, the last saved cursor
  /// stands.
  bool stop();

 private:
  void run(const std::stop_token& stop);
  void connect();
  /// One round. Throws store::ServerError when the database is away, store::SourceBusy when another
  /// process has the source.
  void save();
  void save_position();

  const Options options_;
  const Clock& clock_;
  std::unique_ptr<store::Session> session_;
  std::unique_ptr<store::SourceLock> lock_;
  std::optional<std::int64_t> saved_at_start_;
  std::optional<std::int64_t> saved_;
  Progress progress_;
  std::function<void(const std::string&)> on_lost_;
  std::mutex wait_mutex_;
  bool soon_ = false;
  std::condition_variable_any wait_;
  std::jthread thread_;
};

}  // namespace skua::app
