#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "backfill/repository/task_queue.hpp"

namespace skua::backfill {

/// Owns a suspended coroutine until it is resumed. If it never is, the coroutine is destroyed with
/// all its variables, so that a stop leaves nothing behind.
class Continuation {
 public:
  explicit Continuation(std::coroutine_handle<> handle) : handle_(handle) {}
  ~Continuation() {
    if (handle_) handle_.destroy();
  }
  Continuation(Continuation&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Continuation& operator=(Continuation&&) = delete;

  /// Once.
  void resume() { std::exchange(handle_, nullptr).resume(); }

 private:
  std::coroutine_handle<> handle_;
};

/// A coroutine that awaits it continues on the thread of a TaskQueue. Use it as a named local, like
/// all awaiters here: GCC 12.2 frees some temporaries of a co_await expression twice.
class TaskQueueEntry {
 public:
  explicit TaskQueueEntry(TaskQueue& tasks) : tasks_(tasks) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const {
    tasks_.post([waiting = std::make_shared<Continuation>(handle)] { waiting->resume(); });
  }
  void await_resume() const noexcept {}

 private:
  TaskQueue& tasks_;
};

/// Starts an operation that calls back once, on any thread, and gives its result to a coroutine,
/// which continues on the thread of a TaskQueue.
template <class T>
class CallbackAwaiter {
 public:
  using Done = std::function<void(T)>;

  /// `begin` keeps no reference to variables of the coroutine, which may have ended before `begin`
  /// returns.
  CallbackAwaiter(TaskQueue& tasks, std::function<void(Done)> begin)
      : tasks_(tasks), begin_(std::move(begin)) {}
  CallbackAwaiter(const CallbackAwaiter&) = delete;
  CallbackAwaiter& operator=(const CallbackAwaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    // Another thread may resume the coroutine, which owns this object, at any moment from now on.
    const std::function<void(Done)> begin = std::move(begin_);
    const auto waiting = std::make_shared<Continuation>(handle);
    begin([this, &tasks = tasks_, waiting](T result) {
      result_.emplace(std::move(result));
      tasks.post([waiting] { waiting->resume(); });
    });
  }
  T await_resume() { return *std::move(result_); }

 private:
  TaskQueue& tasks_;
  std::function<void(Done)> begin_;
  std::optional<T> result_;
};

}  // namespace skua::backfill
