#pragma once

#include <coroutine>
#include <cstddef>
#include <stop_token>
#include <thread>
#include <vector>

#include "backfill/repository/continuation.hpp"
#include "base/bounded_queue.hpp"

namespace skua::backfill {

/// The threads that check repositories and decode them for the workers: each works on one
/// repository at a time.
class ReaderThreads {
 public:
  explicit ReaderThreads(std::size_t threads);
  ~ReaderThreads();

  /// See `enter`.
  class Entry {
   public:
    explicit Entry(ReaderThreads& threads) : threads_(threads) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const {
      threads_.queue_.push(Continuation(handle));
    }
    void await_resume() const noexcept {}

   private:
    ReaderThreads& threads_;
  };

  /// A coroutine that awaits it continues on one of the threads, in the order of the calls. Any
  /// thread. After `stop` it does not continue.
  Entry enter() { return Entry(*this); }

  /// Ends a wait on one of the threads at a stop.
  std::stop_token stop_token() const { return stop_.get_token(); }
  /// Coroutines that wait for a thread.
  std::size_t queued() const { return queue_.size(); }

  /// Ends each thread when its coroutine suspends or ends. Coroutines that still wait for a thread
  /// are destroyed with this object. Idempotent.
  void stop();

 private:
  void run();

  std::stop_source stop_;
  BoundedQueue<Continuation> queue_;
  std::vector<std::jthread> threads_;
};

}  // namespace skua::backfill
