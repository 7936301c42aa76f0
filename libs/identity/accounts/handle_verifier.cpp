#include "accounts/handle_verifier.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "documents/errc.hpp"

namespace skua::accounts {
namespace {

/// The number of waiting claims for each concurrent look-up. With so many claims no thread has to
/// wait for the database.
constexpr std::size_t kWaitingEach = 8;
constexpr std::chrono::milliseconds kAtOnce{0};

}  // namespace

HandleVerifier::HandleVerifier(postgres::Runtime& runtime, Check check, Options options)
    : check_(std::move(check)),
      options_(options),
      clock_(runtime.clocks.server),
      budget_(options_.per_second),
      queue_(options_.at_once * kWaitingEach),
      thread_(runtime,
              {.session_name = "skua handles",
               .component = "identity",
               .failure = "handles cannot be checked",
               .retry_pause = options_.pause},
              [this](postgres::LazySession& lazy, const std::stop_token& /*stop*/) {
                postgres::Session& session = lazy.get();
                const Timestamp now = clock_.now();
                write_checked(session, now);
                // Without due claims the thread pauses. Each ended look-up wakes it.
                return take_due(session, now) ? kAtOnce : options_.pause;
              }) {
  for (std::size_t i = 0; i < options_.at_once; ++i) {
    lookers_.emplace_back([this] { look_up(); });
  }
  thread_.start();
}

HandleVerifier::~HandleVerifier() {
  stop();
}

void HandleVerifier::request_stop() {
  thread_.request_stop();
  queue_.close();
}

void HandleVerifier::stop() {
  request_stop();
  thread_.stop();
  lookers_.clear();
}

void HandleVerifier::write_checked(postgres::Session& session, Timestamp now) {
  const auto checked = take_checked();
  if (checked.empty()) return;
  // If the write fails, the claims are due as before.
  for (const auto& one : checked) under_way_.erase(one.claim.actor_id);
  writer::write_checked_handles(session, checked, now);
}

bool HandleVerifier::take_due(postgres::Session& session, Timestamp now) {
  const std::size_t room = options_.at_once * kWaitingEach;
  if (under_way_.size() >= room) return false;
  // The claims that are looked up now are among the oldest due claims, so the query returns them
  // too.
  bool took_any = false;
  for (writer::DueHandle& due : writer::due_handles(session, now, room)) {
    if (under_way_.contains(due.actor_id)) continue;
    if (under_way_.size() >= room || !budget_.take(now)) break;
    under_way_.insert(due.actor_id);
    took_any = true;
    queue_.push(std::move(due));
  }
  return took_any;
}

std::vector<writer::CheckedHandle> HandleVerifier::take_checked() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(checked_, {});
}

void HandleVerifier::look_up() {
  while (auto claim = queue_.pop()) {
    if (queue_.closed()) return;  // the waiting claims stay due
    const auto found = check_(claim->did, claim->handle);
    std::optional<bool> is_valid = found.has_value();
    if (!found && documents::is_server_failure(found.error())) is_valid.reset();
    auto& counter = !is_valid ? counters_.failed : *is_valid ? counters_.valid : counters_.invalid;
    counter += 1;
    if (!found) {
      logger("identity")
          ->debug("did={} handle={}: {}", claim->did, claim->handle, found.error().message());
    }
    const std::scoped_lock lock(mutex_);
    checked_.push_back({*std::move(claim), is_valid});
    thread_.notify();
  }
}

}  // namespace skua::accounts
