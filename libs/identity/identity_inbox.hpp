#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "identity/account.hpp"
#include "identity/did_resolver.hpp"
#include "identity/errc.hpp"

namespace skua::identity {

/// What other threads hand to the thread of an IdentityCache. Shared with active requests, which
/// may outlive the cache. Any thread; one thread calls `wait`.
class IdentityInbox {
 public:
  /// A question for an account.
  struct Ask {
    std::string did;
    bool refresh = false;
    std::chrono::seconds max_age;
    std::function<void(const Result<Account>&)> done;
  };
  /// The answer to a request.
  struct Fetched {
    std::string did;
    DidAnswer answer;
    Timestamp started_at;
    std::chrono::microseconds duration;
  };
  struct Content {
    std::vector<Ask> asks = {};
    std::vector<Fetched> fetched = {};
    /// Whose rows in the table another part has written.
    std::vector<std::string> changed = {};
    bool is_stopped = false;
  };

  /// `max_unanswered`: of questions.
  explicit IdentityInbox(std::size_t max_unanswered) : max_unanswered_(max_unanswered) {}

  /// Takes the question, or answers it with stopped or busy.
  void push(Ask ask) {
    const auto refusal = try_push(ask);
    if (refusal) ask.done(*refusal);
  }
  void push(Fetched fetched) {
    const std::scoped_lock lock(mutex_);
    content_.fetched.push_back(std::move(fetched));
    filled_.notify_one();
  }
  /// Another part has written the rows of these DIDs.
  void push_changed(std::vector<std::string> dids) {
    const std::scoped_lock lock(mutex_);
    if (content_.is_stopped) return;
    std::ranges::move(dids, std::back_inserter(content_.changed));
    filled_.notify_one();
  }
  /// A question was answered.
  void answered() {
    const std::scoped_lock lock(mutex_);
    --unanswered_;
  }

  /// Waits until there is something, or for this time; takes all.
  Content wait(std::optional<std::chrono::milliseconds> at_most) {
    std::unique_lock lock(mutex_);
    const auto is_filled = [this] {
      return content_.is_stopped || !content_.asks.empty() || !content_.fetched.empty() ||
             !content_.changed.empty();
    };
    if (at_most) {
      filled_.wait_for(lock, *at_most, is_filled);
    } else {
      filled_.wait(lock, is_filled);
    }
    return std::exchange(content_, {.is_stopped = content_.is_stopped});
  }

  /// Ends `wait`, and refuses questions from now on.
  void stop() {
    const std::scoped_lock lock(mutex_);
    content_.is_stopped = true;
    filled_.notify_one();
  }

 private:
  std::optional<errc> try_push(Ask& ask) {
    const std::scoped_lock lock(mutex_);
    if (content_.is_stopped) return errc::stopped;
    if (unanswered_ >= max_unanswered_) return errc::busy;
    ++unanswered_;
    content_.asks.push_back(std::move(ask));
    filled_.notify_one();
    return std::nullopt;
  }

  const std::size_t max_unanswered_;
  std::mutex mutex_;
  std::condition_variable filled_;
  Content content_;
  /// Here, and with the cache's thread.
  std::size_t unanswered_ = 0;
};

}  // namespace skua::identity
