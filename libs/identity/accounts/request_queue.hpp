#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "accounts/coroutine.hpp"
#include "base/result.hpp"

namespace skua::accounts {

/// Requests that wait for their turn. Keys (hosts or sites) take turns, and each has a limited
/// number of active requests: a silent host delays its own requests only. On the thread of one
/// io_context, which runs all coroutines that wait.
class RequestQueue {
 public:
  struct Options {
    /// Active requests.
    std::size_t at_once = std::numeric_limits<std::size_t>::max();
    std::size_t of_one_key = std::numeric_limits<std::uint32_t>::max();
    /// A request that has waited for this time is refused (errc::busy); nothing: none is.
    std::optional<std::chrono::milliseconds> patience = std::nullopt;
    /// Whether one more request may start now; if so it counts. It is called again soon after it
    /// has refused. Empty: each may.
    std::function<bool()> may_start = nullptr;
  };

  /// The right to make a request. Its destruction gives the right back. It may outlive the queue.
  using Place = std::shared_ptr<void>;

  RequestQueue(const Executor& executor, Options options);
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Waits for a place. `first`: before the others of its key. Errors: errc::busy, errc::stopped.
  Awaitable<Result<Place>> enter(std::string key, bool first = false);

  /// Refuses all that wait, and further ones (errc::stopped). Idempotent.
  void stop();

  /// Requests that wait for a place.
  std::size_t waiting() const;

 private:
  struct State;

  const std::shared_ptr<State> state_;
};

}  // namespace skua::accounts
