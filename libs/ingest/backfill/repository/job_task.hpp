#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backfill/queue/job_outcomes.hpp"
#include "base/guarded.hpp"

namespace skua::backfill {

/// Tasks that any thread posts and one thread runs, in order.
class TaskQueue {
 public:
  using Task = std::function<void()>;

  /// `on_posted` is called on the thread that posts. It must tell the other thread to call `run`.
  explicit TaskQueue(std::function<void()> on_posted) : on_posted_(std::move(on_posted)) {}

  void post(Task task) {
    tasks_.with([&](auto& tasks) { tasks.push_back(std::move(task)); });
    on_posted_();
  }

  /// Runs all tasks that have been posted. They may post other tasks, which wait for the next call.
  void run() {
    std::vector<Task> tasks;
    tasks_.with([&](auto& posted) { tasks.swap(posted); });
    for (Task& task : tasks) task();
  }

 private:
  const std::function<void()> on_posted_;
  Guarded<std::vector<Task>> tasks_;
};

/// Owns a suspended coroutine until the coroutine is resumed. If this never happens, the coroutine
/// is destroyed with all its variables, so that nothing remains after a stop.
class Continuation {
 public:
  explicit Continuation(std::coroutine_handle<> handle) : handle_(handle) {}
  ~Continuation() {
    if (handle_) handle_.destroy();
  }
  Continuation(Continuation&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Continuation& operator=(Continuation&&) = delete;

  /// Resumes the coroutine. Call it once.
  void resume() { std::exchange(handle_, nullptr).resume(); }

 private:
  std::coroutine_handle<> handle_;
};

/// A coroutine that awaits this object continues on the thread of a TaskQueue. All awaiters of this
/// file must be named locals, because GCC 12.2 frees some temporaries of a co_await expression
/// twice.
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

/// Starts an operation that calls back once, on any thread. The coroutine that awaits this object
/// gets the result, and continues on the thread of a TaskQueue.
template <class T>
class CallbackAwaiter {
 public:
  using Done = std::function<void(T)>;

  /// `begin` must not keep references to variables of the coroutine, which may have ended before
  /// `begin` returns.
  CallbackAwaiter(TaskQueue& tasks, std::function<void(Done)> begin)
      : tasks_(tasks), begin_(std::move(begin)) {}
  CallbackAwaiter(const CallbackAwaiter&) = delete;
  CallbackAwaiter& operator=(const CallbackAwaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    // From now on, another thread may resume the coroutine, which owns this object, at any moment.
    // Therefore `begin` is moved out of the object first.
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

/// The coroutine of a job, which returns how the job ended. It runs on the threads that resume it,
/// one at a time, and is destroyed when it has ended.
class JobTask {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct Callbacks {
    /// Reports the end of the job. It is called once, on the thread where the job ended, after the
    /// job's variables are destroyed. It must not throw.
    std::function<void(JobEnd)> on_end = {};
    /// Reports an exception, such as std::bad_alloc. It is called instead of `on_end`.
    std::function<void(const std::string& what)> on_fatal = {};
  };

  explicit JobTask(Handle handle) : handle_(handle) {}
  ~JobTask() {
    if (handle_) handle_.destroy();
  }
  JobTask(JobTask&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  JobTask& operator=(JobTask&&) = delete;

  /// Runs the job until it waits for the first time.
  void start(Callbacks callbacks) &&;

 private:
  Handle handle_;
};

/// The promise of the coroutine. The compiler requires this name.
struct JobTask::promise_type {
  /// Destroys the coroutine, then calls `on_end` or `on_fatal`.
  struct End {
    bool await_ready() const noexcept { return false; }
    void await_suspend(Handle handle) const noexcept {
      // The promise is moved out first, because `destroy` destroys the promise and this object.
      promise_type ended = std::move(handle.promise());
      handle.destroy();
      ended.tell();
    }
    void await_resume() const noexcept {}
  };

  JobTask get_return_object() { return JobTask(Handle::from_promise(*this)); }
  std::suspend_always initial_suspend() const noexcept { return {}; }
  End final_suspend() const noexcept { return {}; }
  void return_value(JobEnd how) { end = std::move(how); }
  void unhandled_exception() { error = std::current_exception(); }

  void tell() {
    if (!error) return callbacks.on_end(std::move(end));
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
      callbacks.on_fatal(thrown.what());
    }
  }

  Callbacks callbacks;
  JobEnd end = JobStopped{};
  std::exception_ptr error;
};

inline void JobTask::start(Callbacks callbacks) && {
  handle_.promise().callbacks = std::move(callbacks);
  std::exchange(handle_, nullptr).resume();
}

}  // namespace skua::backfill
