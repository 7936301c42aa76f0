#include "accounts/retrying_accounts.hpp"

#include <utility>

#include "atproto/syntax.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"
#include "identity/errc.hpp"

namespace skua::accounts {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kWebAttempts = 3;
constexpr std::chrono::minutes kWarnEvery{1};

/// One directory serves all of did:plc: when it fails, waiting loses nothing.
bool is_worth_waiting(const std::string& did, int attempts) {
  return atproto::is_plc_did(did) || attempts < kWebAttempts;
}

}  // namespace

RetryingAccounts::RetryingAccounts(AccountSource& accounts, std::chrono::milliseconds pause)
    : accounts_(accounts),
      pause_(pause),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

RetryingAccounts::~RetryingAccounts() {
  stop();
}

void RetryingAccounts::warn(Waiting& waiting, const std::string& reason) {
  const auto now = SteadyClock::now();
  if (now < waiting.warn_at) return;
  waiting.warn_at = now + kWarnEvery;
  logger("identity")
      ->warn("{}; {}", reason,
             with_code("events of accounts without a known key wait", problem("plc-down")));
}

template <class Answer>
void RetryingAccounts::ask(const std::shared_ptr<Waiting>& waiting, std::chrono::milliseconds pause,
                           const std::shared_ptr<Question<Answer>>& question) {
  question->ask([waiting, pause, question](Result<Answer> answer) {
    ++question->attempts;
    if (!answer && identity::is_server_failure(answer.error()) &&
        is_worth_waiting(question->did, question->attempts)) {
      const std::scoped_lock lock(waiting->mutex);
      if (waiting->ended) return;
      if (atproto::is_plc_did(question->did) && answer.error() != identity::errc::stopped) {
        warn(*waiting, question->failure_text(answer.error()));
      }
      waiting->later.push({SteadyClock::now() + pause,
                           [waiting, pause, question] { ask(waiting, pause, question); }});
      waiting->changed.notify_one();
      return;
    }
    question->done(std::move(answer));
  });
}

void RetryingAccounts::identity(const std::string& did, Freshness freshness, IdentityDone done) {
  if (freshness == Freshness::Now) return ask_now(did, std::move(done));
  const auto question = std::make_shared<Question<identity::Account>>();
  question->did = did;
  question->failure_text = [this, did](const ErrorCode& error) {
    return accounts_.failure_text(did, error);
  };
  question->ask = [this, did, freshness](IdentityDone answered) {
    accounts_.identity(did, freshness, std::move(answered));
  };
  question->done = std::move(done);
  ask(waiting_, pause_, question);
}

void RetryingAccounts::ask_now(const std::string& did, IdentityDone done) {
  const auto now = SteadyClock::now();
  {
    const std::scoped_lock lock(waiting_->mutex);
    const auto due = waiting_->fresh.reserve(did, monotonic_clock().now());
    const auto wait = due - monotonic_clock().now();
    if (wait > wait.zero()) {
      if (waiting_->ended) return;
      waiting_->later.push({now + wait, [this, did, done = std::move(done)]() mutable {
                              accounts_.identity(did, Freshness::Now, std::move(done));
                            }});
      waiting_->changed.notify_one();
      return;
    }
  }
  accounts_.identity(did, Freshness::Now, std::move(done));
}

void RetryingAccounts::status(const std::string& did, StatusDone done) {
  accounts_.status(did, std::move(done));
}

void RetryingAccounts::keys_near(const std::string& did, Timestamp time, KeyUse use,
                                 KeysDone done) {
  const auto question = std::make_shared<Question<std::vector<atproto::Multikey>>>();
  question->did = did;
  question->failure_text = [this, did](const ErrorCode& error) {
    return accounts_.failure_text(did, error);
  };
  question->ask = [this, did, time, use](KeysDone answered) {
    accounts_.keys_near(did, time, use, std::move(answered));
  };
  question->done = std::move(done);
  ask(waiting_, pause_, question);
}

void RetryingAccounts::run(const std::stop_token& stop) {
  std::unique_lock lock(waiting_->mutex);
  while (!stop.stop_requested()) {
    if (waiting_->later.empty()) {
      waiting_->changed.wait(lock, stop, [&] { return !waiting_->later.empty(); });
      continue;
    }
    const auto at = waiting_->later.top().at;
    if (SteadyClock::now() < at) {
      waiting_->changed.wait_until(lock, stop, at, [&] { return waiting_->later.top().at < at; });
      continue;
    }
    const auto ask_again = waiting_->later.top().ask;
    waiting_->later.pop();
    lock.unlock();
    ask_again();
    lock.lock();
  }
}

void RetryingAccounts::stop() {
  accounts_.stop();
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  // What waits refers to those who asked.
  const std::scoped_lock lock(waiting_->mutex);
  waiting_->ended = true;
  waiting_->later = {};
}

}  // namespace skua::accounts
