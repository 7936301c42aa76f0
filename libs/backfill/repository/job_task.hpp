#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "backfill/queue/job_end.hpp"

namespace skua::backfill {

/// The coroutine of a job, which returns how the job ended. It runs on the threads that resume it,
/// one at a time, and is destroyed when it has ended.
class JobTask {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct Callbacks {
    /// Called once, on the thread where the job ended, after its variables are destroyed. Must not
    /// throw.
    std::function<void(JobEnd)> on_end = {};
    /// Called instead after an exception, such as std::bad_alloc.
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

/// The promise, which the compiler uses by its name.
struct JobTask::promise_type {
  /// Destroys the coroutine, then calls `on_end` or `on_fatal`.
  struct End {
    bool await_ready() const noexcept { return false; }
    void await_suspend(Handle handle) const noexcept {
      // The promise, and this object, are parts of what is destroyed.
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
