#include "backfill/bootstrap/bootstrap_indexes.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backfill/bootstrap/bootstrap_indexes.sql.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/locks.hpp"
#include "postgres/outage.hpp"
#include "postgres/sql_error.hpp"
#include "tables/change_log.hpp"

namespace skua::backfill {
namespace {

using postgres::Session;
using postgres::Transaction;

constexpr std::chrono::milliseconds kCancelEvery{200};
/// The pause while other processes build, or while the server cannot be reached.
constexpr std::chrono::milliseconds kBuildPause{1'000};

const std::string kName = "skua indexes";

/// An index that must be built.
struct DroppedIndex {
  std::string name;
  std::string definition;
};

// The names of tables and indexes cannot be parameters, so statements with such a name are
// composed.

void refuse_filled_tables(Session& session) {
  for (const auto& table : session.query<std::string>(sql::bootstrap_tables)) {
    if (postgres::rows_of<bool>(session.run("SELECT EXISTS (SELECT 1 FROM " + table + ")")).at(0)) {
      throw BootstrapRefused(fmt::format(
          "a bootstrap fills an empty database, and {} has rows: leave --bootstrap out", table));
    }
  }
}

/// Builds the next index that no other process is building, and returns its name. Returns nothing
/// if all are built or being built. The transaction of the build also deletes the row that requests
/// the index, so that the row exists exactly while the index is missing.
std::optional<std::string> build_next(Session& session) {
  Transaction transaction(session);
  const auto next = session.query_first<DroppedIndex>(sql::bootstrap_next);
  if (!next) return std::nullopt;
  const auto& [name, definition] = *next;
  // An administrator may have built the index, or may have cancelled CREATE INDEX CONCURRENTLY.
  const auto is_valid = session.query_first<bool>(sql::bootstrap_found, name);
  const bool is_there = is_valid.value_or(false);
  if (is_valid && !is_there) session.run("DROP INDEX " + name);
  if (!is_there) session.run(definition);
  // The last index ends the bootstrap. The lock makes exactly one of several transactions find that
  // no index is missing.
  tables::lock_change_log_mode(session);
  session.execute(sql::bootstrap_forget, name);
  tables::end_bootstrap_in_log(session);
  crash_point("before_index_commit");
  transaction.commit();
  crash_point("after_index_commit");
  return next->name;
}

/// Makes the server check that its client still exists. Without this check, the server would
/// continue for hours to build for a client that was killed. It would roll the build back in the
/// end, and the next client would wait all this time.
void watch_client(Session& session) {
  try {
    session.run("SET client_connection_check_interval = '2s'");
  } catch (const postgres::ServerError&) {
    throw;
  } catch (const postgres::SqlError&) {
    // Only PostgreSQL 14 and later supports the setting, and only on Linux.
  }
}

/// The threads of one `finish_bootstrap`. Each has a session that builds one index after another.
class Builders {
 public:
  Builders(const std::string& url, const IndexBuilds& builds,
           const std::function<void(const std::string& name)>& on_built)
      : url_(url),
        threads_(std::max(builds.at_once, 1)),
        memory_mb_(std::max<std::int64_t>(builds.memory_mb / threads_, 16)),
        on_built_(on_built) {}

  std::size_t run(const std::stop_token& stop) {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(threads_));
    running_ = threads_;
    for (int i = 0; i < threads_; ++i) threads.emplace_back([this, stop] { work(stop); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return running_ == 0; });
    // The cancel is repeated, because a cancel between two statements has no effect.
    while (running_ > 0) {
      lock.unlock();
      cancel();
      lock.lock();
      changed_.wait_for(lock, kCancelEvery, [this] { return running_ == 0; });
    }
    lock.unlock();
    threads.clear();
    if (failure_) std::rethrow_exception(failure_);
    return built_;
  }

 private:
  /// A session whose current statement can be cancelled.
  struct BuildSession {
    explicit BuildSession(Builders& builders)
        : all(builders), session(all.url_, postgres::process_name(kName)) {
      session.run(fmt::format("SET maintenance_work_mem = '{}MB'", all.memory_mb_));
      watch_client(session);
      const std::scoped_lock lock(all.mutex_);
      all.backends_.insert(session.backend_pid());
    }
    ~BuildSession() {
      const std::scoped_lock lock(all.mutex_);
      all.backends_.erase(session.backend_pid());
    }
    BuildSession(const BuildSession&) = delete;
    BuildSession& operator=(const BuildSession&) = delete;

    Builders& all;
    Session session;
  };

  /// The function of each thread. Stores an exception for `run`.
  void work(const std::stop_token& stop) {
    try {
      build_until_done(stop);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    --running_;
    changed_.notify_all();
  }

  enum class Step : std::uint8_t { Built, NothingToBuild, AllBuilt };

  /// Builds until no index is missing, a stop is requested, or another thread has failed.
  void build_until_done(const std::stop_token& stop) {
    std::unique_ptr<BuildSession> builder;
    while (goes_on(stop)) {
      const std::size_t built_before = built();
      Step step = Step::NothingToBuild;
      try {
        step = build_one(builder);
      } catch (const postgres::ServerError& error) {
        if (stop.stop_requested()) return;  // the stop may have caused the error
        if (is_failed_build(error, builder.get())) throw;
        builder.reset();
        postgres::log_retry("backfill", "indexes cannot be built", error);
      }
      if (step == Step::AllBuilt) return;
      if (step == Step::NothingToBuild) rest(stop, built_before);
    }
  }

  /// Connects if `builder` is null, and builds the next index. NothingToBuild means that other
  /// processes or threads build the missing indexes.
  Step build_one(std::unique_ptr<BuildSession>& builder) {
    if (!builder) builder = std::make_unique<BuildSession>(*this);
    if (const auto name = build_next(builder->session)) {
      tell(*name);
      return Step::Built;
    }
    return bootstrap_is_open(builder->session) ? Step::NothingToBuild : Step::AllBuilt;
  }

  /// Returns whether the build itself failed, for example because the disk is full. A lost
  /// connection and a lock of another session are temporary.
  static bool is_failed_build(const postgres::ServerError& error, const BuildSession* builder) {
    const bool is_locked = error.sqlstate() == postgres::kLockNotAvailable;
    return builder != nullptr && builder->session.connected() && !is_locked;
  }

  bool goes_on(const std::stop_token& stop) {
    const std::scoped_lock lock(mutex_);
    return !stop.stop_requested() && !failure_;
  }

  std::size_t built() {
    const std::scoped_lock lock(mutex_);
    return built_;
  }

  /// Waits until another thread has built an index since `built_before`, because that index may
  /// have been the last.
  void rest(const std::stop_token& stop, std::size_t built_before) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, kBuildPause,
                      [&] { return failure_ != nullptr || built_ != built_before; });
  }

  void tell(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    ++built_;
    changed_.notify_all();
    if (on_built_) on_built_(name);
  }

  /// Cancels the builds of all sessions.
  void cancel() {
    try {
      Session session(url_, postgres::process_name(kName));
      // No session ends while the lock is held, so no other process can have the number of one of
      // them.
      const std::scoped_lock lock(mutex_);
      for (const int backend : backends_) session.execute(sql::bootstrap_cancel, backend);
    } catch (const postgres::SqlError& error) {
      logger("backfill")->debug("builds cannot be cancelled: {}", error.what());
    }
  }

  const std::string& url_;
  const int threads_;
  const std::int64_t memory_mb_;
  const std::function<void(const std::string& name)>& on_built_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  /// The number of threads that have not ended.
  int running_ = 0;
  std::set<int> backends_;
  std::size_t built_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

bool bootstrap_is_open(Session& session) {
  return missing_indexes(session) > 0;
}

std::size_t missing_indexes(Session& session) {
  return static_cast<std::size_t>(session.query_one<std::int64_t>(sql::bootstrap_missing));
}

std::size_t begin_bootstrap(Session& session) {
  Transaction transaction(session);
  if (!postgres::keep_sources_away_xact(session)) {
    throw BootstrapRefused(fmt::format(
        "a bootstrap fills a database that nothing else writes to, and a source is being indexed "
        "by {}: stop that first, and start it again when the bootstrap is over",
        postgres::any_source_owner(session).value_or("a session that has just ended")));
  }
  if (bootstrap_is_open(session)) return 0;
  refuse_filled_tables(session);
  session.run("SET LOCAL lock_timeout = '10s'");
  const auto names = session.query<std::string>(sql::bootstrap_record);
  for (const std::string& name : names) session.run("DROP INDEX " + name);
  // This lock follows the locks of the tables, because writers take the locks in this order, too.
  tables::lock_change_log_mode(session);
  crash_point("before_drop_commit");
  transaction.commit();
  crash_point("after_drop_commit");
  return names.size();
}

std::size_t finish_bootstrap(const std::string& url, const IndexBuilds& builds,
                             const std::stop_token& stop,
                             const std::function<void(const std::string& name)>& on_built) {
  return Builders(url, builds, on_built).run(stop);
}

}  // namespace skua::backfill
