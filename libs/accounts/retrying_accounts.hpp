#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "accounts/account_source.hpp"

namespace skua::accounts {

/// Another source's accounts, whose keys are waited for: when the server that is asked for one
/// fails, it is asked again after a pause, as long as it takes, because what cannot be verified now
/// must not be lost. The host of a did:web account gets three tries: it may be gone for good, and
/// must not hold up all others.
///
/// What is asked for as it is now (Freshness::Now, a host's status) is not waited for: the stream's
/// own word stands in for it.
class RetryingAccounts final : public AccountSource {
 public:
  /// A directory's failure is remembered for half a minute: asking sooner gives the same answer.
  static constexpr std::chrono::milliseconds kPause{31'000};

  /// `accounts` must outlive it.
  explicit RetryingAccounts(AccountSource& accounts, std::chrono::milliseconds pause = kPause);
  ~RetryingAccounts() override;

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  bool has_hosts() const override { return accounts_.has_hosts(); }
  void status(const std::string& did, StatusDone done) override;
  void key_at(const std::string& did, Timestamp time, KeyUse use, KeyDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override {
    return accounts_.failure_text(did, error);
  }
  /// Stops the other source, and gives up what waits: it is never answered.
  void stop() override;

 private:
  struct Later {
    std::chrono::steady_clock::time_point at;
    std::function<void()> ask;
    friend bool operator<(const Later& a, const Later& b) { return a.at > b.at; }
  };
  /// Shared with answers that may come after the end.
  struct Waiting {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::priority_queue<Later> later;
    /// When the next failure of the directory is logged.
    std::chrono::steady_clock::time_point warn_at;
    /// Nobody asks again: what is kept for later would never go.
    bool ended = false;
  };

  template <class Answer>
  struct Question {
    std::string did;
    std::function<void(std::function<void(Result<Answer>)>)> ask;
    std::function<void(Result<Answer>)> done;
    /// See AccountSource::failure_text.
    std::function<std::string(const ErrorCode&)> failure_text;
    int attempts = 0;
  };
  template <class Answer>
  static void ask(const std::shared_ptr<Waiting>& waiting, std::chrono::milliseconds pause,
                  const std::shared_ptr<Question<Answer>>& question);
  /// Logs a failure of the directory, at most once a minute. With the lock held.
  static void warn(Waiting& waiting, const std::string& reason);
  void run(const std::stop_token& stop);

  AccountSource& accounts_;
  const std::chrono::milliseconds pause_;
  const std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();
  std::jthread thread_;
};

}  // namespace skua::accounts
