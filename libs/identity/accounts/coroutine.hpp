#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/result.hpp"

namespace skua::accounts {

using Executor = boost::asio::io_context::executor_type;
using Timer = boost::asio::basic_waitable_timer<
    std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
template <class T>
using Awaitable = boost::asio::awaitable<T, Executor>;

/// Waits until the timer expires or is cancelled. `timer` must outlive the wait.
inline Awaitable<void> expired(Timer& timer) {
  ErrorCode cancelled;
  // The token needs a name: GCC 12.2 destroys aggregate temporaries of a co_await expression twice.
  auto token = boost::asio::redirect_error(boost::asio::use_awaitable_t<Executor>(), cancelled);
  co_await timer.async_wait(token);
}

/// A value that coroutines on one thread wait for.
template <class T>
class Eventual {
 public:
  explicit Eventual(const Executor& executor)
      : is_set_(executor, std::chrono::steady_clock::time_point::max()) {}

  /// Sets the value, which may happen only once. Coroutines that wait continue later.
  void set(T value) {
    value_.emplace(std::move(value));
    is_set_.cancel();
  }
  /// Waits for the value. The object must outlive the wait.
  Awaitable<void> wait() {
    if (!value_) co_await expired(is_set_);
  }
  /// Must be called after `wait`.
  T& value() { return *value_; }

 private:
  Timer is_set_;
  std::optional<T> value_;
};

}  // namespace skua::accounts
