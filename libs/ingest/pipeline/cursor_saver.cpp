#include "pipeline/cursor_saver.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "postgres/connection_string.hpp"

namespace skua::pipeline {
namespace {

/// The time for which the saver waits for another owner of a source after a lost connection. A
/// server that was cut off from a process ends its session after a minute
/// (postgres/connection_string.cpp).
constexpr std::chrono::minutes kBusyPatience{5};
/// The locks end with a broken connection, so the saver takes them again sooner than the next save.
constexpr std::chrono::milliseconds kRetry{1'000};

}  // namespace

CursorSaver::CursorSaver(postgres::Runtime& runtime, Options options)
    : options_(std::move(options)),
      clock_(runtime.clocks.server),
      thread_(runtime,
              {.session_name = postgres::process_name("skua run " + options_.sources.front()),
               .prepare = [this](postgres::Session& session) { prepare(session); },
               .component = "cursor",
               .failure = "the cursor cannot be saved",
               .retry_pause = std::min(options_.interval, kRetry),
               .keeps_session = true},
              [this](postgres::LazySession& /*session*/, const std::stop_token& /*stop*/) {
                return save_or_wait();
              }) {
  postgres::Session& session = thread_.session().get();
  for (const std::string& source : options_.sources) {
    saved_at_start_.push_back(tables::load_cursor(session, source));
    groups_at_start_.push_back(tables::load_group_cursors(session, source));
  }
  saved_ = saved_at_start_;
}

CursorSaver::~CursorSaver() {
  thread_.stop();
  locks_.clear();
}

void CursorSaver::prepare(postgres::Session& session) {
  locks_.clear();
  std::vector<std::unique_ptr<postgres::SourceLock>> locks;
  for (const std::string& source : options_.sources) {
    locks.push_back(std::make_unique<postgres::SourceLock>(session, source));
  }
  // The locks must be taken before this check, because a bootstrap that begins looks for sources
  // whose locks are held.
  if (backfill::bootstrap_is_open(session)) {
    throw std::runtime_error(
        "a bootstrap is open: `skua backfill --bootstrap` fills this database, whose indexes are "
        "missing meanwhile; let `skua backfill` come to its end first, which builds them");
  }
  locks_ = std::move(locks);
}

void CursorSaver::start(Progress progress) {
  progress_ = std::move(progress);
  thread_.start();
}

bool CursorSaver::waits_for(const postgres::SourceBusy& busy) {
  const auto now = std::chrono::steady_clock::now();
  if (!busy_since_) {
    busy_since_ = now;
    logger("cursor")->warn("not saved, waiting for {}: {}",
                           duration_text(std::chrono::seconds(kBusyPatience)), busy.what());
  }
  return now - *busy_since_ < kBusyPatience;
}

std::chrono::milliseconds CursorSaver::save_or_wait() {
  try {
    save();
    busy_since_.reset();
    return options_.interval;
  } catch (const postgres::SourceBusy& busy) {
    if (!waits_for(busy)) throw;
    return std::min(options_.interval, kRetry);
  }
}

void CursorSaver::save() {
  // The locks end with the connection, and another process may then take the source. Therefore
  // `get` takes the locks again when it makes a new connection.
  postgres::Session& session = thread_.session().get();
  try {
    save_position(session);
    for (std::size_t i = 0; i < options_.sources.size(); ++i) {
      tables::save_metrics(session, options_.sources[i], progress_.metrics(i));
    }
    // The WAL position that the server has on disk now must also exist on a later server, so it is
    // noted.
    session.note_wal_position();
  } catch (const postgres::ServerError&) {
    locks_.clear();
    thread_.session().reset();
    throw;
  }
}

void CursorSaver::save_position(postgres::Session& session) {
  std::vector<std::optional<Watermark>> moved(options_.sources.size());
  bool has_moved = false;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    moved[i] = progress_.watermark(i);
    if (moved[i] && moved[i]->seq == saved_[i]) moved[i].reset();
    has_moved = has_moved || moved[i];
  }
  // The watermarks are read before the heads and gaps, so that the saved state of repositories
  // contains everything that the cursor has passed.
  static const std::vector<tables::RepositoryProgress> kNone;
  static const std::vector<tables::Gap> kNoGaps;
  const auto end = options_.heads != nullptr ? progress_.first_unfinished() : 0;
  const auto& repositories = options_.heads != nullptr ? options_.heads->collect(end) : kNone;
  const auto& gaps = options_.heads != nullptr ? options_.heads->collect_gaps(end) : kNoGaps;
  if (!has_moved && repositories.empty() && gaps.empty()) return;
  crash_point("before_cursor");
  postgres::Transaction transaction(session);
  // Otherwise a process that does not yet know that its database has taken groups would move the
  // cursor ahead of their events.
  session.require_same_groups();
  tables::save_repositories(session, repositories, options_.resync, clock_.now());
  tables::desynchronize(session, gaps, clock_.now());
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (!moved[i]) continue;
    tables::save_cursor(session, options_.sources[i], moved[i]->seq, moved[i]->time);
  }
  transaction.commit();
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (moved[i]) saved_[i] = moved[i]->seq;
  }
  if (options_.heads != nullptr) options_.heads->stored();
  crash_point("after_cursor");
}

bool CursorSaver::stop() {
  drop();
  if (!progress_.watermark) return true;
  try {
    save();
    return true;
  } catch (const std::runtime_error& error) {
    logger("cursor")->error(
        "the cursor was not saved; the next start continues at the previous one: {}", error.what());
    return false;
  }
}

}  // namespace skua::pipeline
