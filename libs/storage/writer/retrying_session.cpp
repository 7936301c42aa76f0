#include "writer/retrying_session.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "postgres/outage.hpp"
#include "postgres/sql_error.hpp"

namespace skua::writer {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstBackOff{50};
constexpr milliseconds kLongestBackOff{5000};
/// Conflicts are logged if they last longer than this.
constexpr std::chrono::minutes kUsualFor{1};

}  // namespace

postgres::Session& RetryingSession::get() {
  if (!session_) {
    session_ = std::make_unique<postgres::Session>(database_url_, "skua " + name_);
  }
  return *session_;
}

bool RetryingSession::back_off(const postgres::SqlError& error, const std::stop_token& stop) {
  ++failures_;
  // A deadlock or a full lock table leaves the connection usable. After any other failure, a new
  // connection is the surest way to the server that now answers.
  const std::string sqlstate_class = error.sqlstate().substr(0, 2);
  const bool is_conflict = sqlstate_class == "40" || sqlstate_class == "55";
  const bool keep = session_ && session_->connected() && (is_conflict || sqlstate_class == "53");
  if (!keep) session_.reset();
  // Conflicts and full lock tables are normal, so they are only logged if they last.
  const auto now = std::chrono::steady_clock::now();
  if (failures_ == 1) logged_at_ = now;
  const bool is_usual = is_conflict || error.sqlstate() == postgres::kOutOfMemory;
  if (!is_usual || now - logged_at_ >= kUsualFor) {
    logged_at_ = now;
    postgres::log_retry("writer", fmt::format("lane={}: the transaction failed", name_), error);
  }

  milliseconds wait = kFirstBackOff * (1 << std::min(failures_ - 1, 10));
  wait = std::min(wait, kLongestBackOff);
  std::unique_lock lock(wait_mutex_);
  wait_.wait_for(lock, stop, wait, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace skua::writer
