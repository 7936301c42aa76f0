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
#include "base/shares.hpp"

namespace skua::accounts {

/// Repeats the questions to another AccountSource until they are answered. After a failure of the
/// PLC directory it asks again after a pause, without a limit, because a commit that cannot be
/// verified yet must not be lost. The host of a did:web account is asked three times: it may never
/// answer, and must not delay other accounts.
///
/// Questions about the present (Freshness::Now, a hosting status) are not repeated: the caller uses
/// the stream's own statement instead. A resync asks for the hosting status later. An account has a
/// share of the questions with Freshness::Now: further ones wait.
class RetryingAccounts final : public AccountSource {
 public:
  /// A failure of the directory is cached for half a minute: an earlier question gets the same
  /// answer.
  static constexpr std::chrono::milliseconds kPause{31'000};
  /// Each is a request to the directory or to the host of the document.
  static constexpr Share kFreshOfAccount{.burst = 20, .every = std::chrono::seconds(5)};

  /// `accounts` outlives it.
  explicit RetryingAccounts(AccountSource& accounts, std::chrono::milliseconds pause = kPause);
  ~RetryingAccounts() override;

  void identity(const std::string& did, Freshness freshness, IdentityDone done) override;
  bool has_hosts() const override { return accounts_.has_hosts(); }
  void status(const std::string& did, StatusDone done) override;
  void keys_near(const std::string& did, Timestamp time, KeyUse use, KeysDone done) override;
  std::string failure_text(const std::string& did, const ErrorCode& error) const override {
    return accounts_.failure_text(did, error);
  }
  /// Stops the other source. Questions that wait are never answered.
  void stop() override;

 private:
  struct Later {
    std::chrono::steady_clock::time_point at;
    std::function<void()> ask;
    friend bool operator<(const Later& a, const Later& b) { return a.at > b.at; }
  };
  /// Shared with answers that may arrive after the end.
  struct Waiting {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::priority_queue<Later> later;
    Shares fresh{kFreshOfAccount};
    /// When the next failure of the directory is logged.
    std::chrono::steady_clock::time_point warn_at;
    /// The thread has ended: later questions are not stored.
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
  /// Asks with Freshness::Now when the account has a share.
  void ask_now(const std::string& did, IdentityDone done);
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
