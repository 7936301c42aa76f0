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

/// Requests that wait for their turn. Keys (hosts or sites) take turns, and each key has a limited
/// number of active requests, so a silent host delays only its own requests. Used on the thread of
/// one io_context, which runs all waiting coroutines.
class RequestQueue {
 public:
  struct Options {
    /// The limits of active requests, for all keys together and for one key.
    std::size_t at_once = std::numeric_limits<std::size_t>::max();
    std::size_t of_one_key = std::numeric_limits<std::uint32_t>::max();
    /// A request that has waited for this time is refused (errc::busy). Without a value no request
    /// is refused.
    std::optional<std::chrono::milliseconds> patience = std::nullopt;
    /// Returns whether one more request may start now. If so, the request counts as started. After
    /// a refusal the function is called again soon. If empty, each request may start.
    std::function<bool()> may_start = nullptr;
  };

  /// The right to make a request. The destruction of the place returns the right. A place may
  /// outlive the queue.
  using Place = std::shared_ptr<void>;

  RequestQueue(const Executor& executor, Options options);
  ~RequestQueue();
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  /// Waits for a place. `first` puts the request before the other requests of its key. Errors:
  /// errc::busy, errc::stopped.
  Awaitable<Result<Place>> enter(std::string key, bool first = false);

  /// Refuses all waiting and all further requests (errc::stopped). Idempotent.
  void stop();

  /// The number of requests that wait for a place.
  std::size_t waiting() const;

 private:
  struct State;

  const std::shared_ptr<State> state_;
};

}  // namespace skua::accounts
