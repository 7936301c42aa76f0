#include "postgres/session_thread.hpp"

#include <exception>
#include <utility>

#include "postgres/outage.hpp"

namespace skua::postgres {

SessionThread::SessionThread(Runtime& runtime, Options options, Round round)
    : runtime_(runtime),
      options_(std::move(options)),
      round_(std::move(round)),
      session_(runtime_.database_url, options_.session_name, options_.prepare) {}

SessionThread::~SessionThread() {
  stop();
}

void SessionThread::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void SessionThread::notify() {
  const std::scoped_lock lock(mutex_);
  notified_ = true;
  wake_.notify_one();
}

void SessionThread::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

bool SessionThread::is_retried(const SqlError& error) const {
  return options_.retries_sql_errors || dynamic_cast<const ServerError*>(&error) != nullptr;
}

void SessionThread::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    bool failed = false;
    std::chrono::milliseconds pause{};
    try {
      pause = round_(session_, stop);
    } catch (const std::exception& error) {
      const auto* const sql_error = dynamic_cast<const SqlError*>(&error);
      if (sql_error != nullptr && is_retried(*sql_error)) {
        failed = true;
        pause = options_.retry_pause;
        session_.reset();
        log_retry(options_.component, options_.failure, *sql_error);
      } else {
        // One of our statements is wrong, or memory ran out. Continuing would hide the error.
        const std::string effect = options_.failure.empty() ? "" : options_.failure + ": ";
        return runtime_.fatal(effect + error.what());
      }
    }
    std::unique_lock lock(mutex_);
    // A notification does not shorten the pause after a failure.
    wake_.wait_for(lock, stop, pause, [&] { return !failed && notified_; });
    if (!failed) notified_ = false;
  }
  if (!options_.keeps_session) session_.reset();
}

}  // namespace skua::postgres
