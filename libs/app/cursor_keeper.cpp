#include "app/cursor_keeper.hpp"

#include <algorithm>
#include <utility>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "store/process_name.hpp"

namespace skua::app {

CursorKeeper::CursorKeeper(Options options) : options_(std::move(options)) {
  connect();
  saved_at_start_ = store::load_cursor(*session_, options_.source);
  saved_ = saved_at_start_;
}

CursorKeeper::~CursorKeeper() {
  thread_.request_stop();
}

void CursorKeeper::connect() {
  auto session = std::make_unique<store::Session>(
      options_.database_url, store::process_name("skua run " + options_.source));
  lock_ = std::make_unique<store::SourceLock>(*session, options_.source);
  session_ = std::move(session);
}

void CursorKeeper::start(std::function<std::optional<Watermark>()> watermark,
                         std::function<std::string()> figures,
                         std::function<void(const std::string&)> on_lost) {
  watermark_ = std::move(watermark);
  figures_ = std::move(figures);
  on_lost_ = std::move(on_lost);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void CursorKeeper::run(const std::stop_token& stop) {
  // The lock went with the connection: be back sooner than the next save.
  constexpr std::chrono::milliseconds kRetry{1'000};
  std::unique_lock lock(wait_mutex_);
  auto interval = options_.interval;
  while (!stop.stop_requested()) {
    wait_.wait_for(lock, stop, interval, [this] { return soon_; });
    if (stop.stop_requested()) return;
    soon_ = false;
    lock.unlock();
    interval = options_.interval;
    try {
      save();
    } catch (const store::SourceBusy& busy) {
      on_lost_(busy.what());
      return;
    } catch (const store::ServerError& error) {
      logger("cursor")->warn("not saved, trying again: {}", error.what());
      interval = std::min(interval, kRetry);
    } catch (const std::exception& error) {
      on_lost_(std::string("the cursor cannot be saved: ") + error.what());
      return;
    }
    lock.lock();
  }
}

void CursorKeeper::save_soon() {
  const std::scoped_lock lock(wait_mutex_);
  soon_ = true;
  wait_.notify_all();
}

void CursorKeeper::save() {
  // With the connection went the lock: another process may have the source by now.
  if (!session_) connect();
  try {
    const auto watermark = watermark_();
    if (watermark && watermark->seq != saved_) {
      crash_point("before_cursor");
      store::save_cursor(*session_, options_.source, watermark->seq, watermark->time);
      saved_ = watermark->seq;
      crash_point("after_cursor");
    }
    store::save_figures(*session_, options_.source, figures_());
  } catch (const store::ServerError&) {
    lock_.reset();
    session_.reset();
    throw;
  }
}

bool CursorKeeper::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  if (!watermark_) return true;
  try {
    save();
    return true;
  } catch (const store::SqlError& error) {
    logger("cursor")->error(
        "the cursor could not be saved, the next start repeats from the one before: {}",
        error.what());
    return false;
  }
}

}  // namespace skua::app
