#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace skua::writer {

/// A fair semaphore that limits how many workers write at the same time. The other workers wait in
/// the order of their requests, and their queues grow. A busier machine therefore has larger
/// batches and fewer transactions. Without the limit, fifteen connections that compete for two
/// cores commit a tenth of a batch, eight times as often. Any thread may use it.
class WritePermits {
 public:
  /// A permit, which the destructor returns.
  class Permit {
   public:
    explicit Permit(WritePermits& permits) : permits_(&permits) {}
    Permit(Permit&& other) noexcept : permits_(std::exchange(other.permits_, nullptr)) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(permits_, other.permits_);
      return *this;
    }
    ~Permit() {
      if (permits_ != nullptr) permits_->give_back();
    }

   private:
    WritePermits* permits_;
  };

  explicit WritePermits(std::size_t at_once) : free_(at_once) {}

  /// Waits for a permit. Returns nothing if a stop was requested.
  std::optional<Permit> wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (free_ > 0) {
      --free_;
      return Permit(*this);
    }
    const auto self = waiting_.emplace(waiting_.end());
    self->called.wait(lock, stop, [&] { return self->has_permit; });
    const bool has_permit = self->has_permit;
    waiting_.erase(self);
    if (!has_permit) return std::nullopt;
    return Permit(*this);
  }

  /// Returns the number of threads that wait.
  std::size_t waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.size();
  }

 private:
  struct Waiter {
    std::condition_variable_any called;
    bool has_permit = false;
  };

  void give_back() {
    const std::scoped_lock lock(mutex_);
    for (Waiter& waiter : waiting_) {
      if (waiter.has_permit) continue;
      waiter.has_permit = true;
      waiter.called.notify_one();
      return;
    }
    ++free_;
  }

  mutable std::mutex mutex_;
  std::list<Waiter> waiting_;
  std::size_t free_;
};

/// Gives live events priority: counts the events that wait in live lanes, and makes backfill
/// workers wait while these lanes are deep. Any thread may use it.
class LiveBackpressure {
 public:
  explicit LiveBackpressure(std::size_t deep) : deep_(deep) {}

  void add(std::size_t events) {
    const std::scoped_lock lock(mutex_);
    waiting_ += events;
  }
  void remove(std::size_t events) {
    bool is_shallow = false;
    {
      const std::scoped_lock lock(mutex_);
      waiting_ -= events;
      is_shallow = waiting_ < deep_;
    }
    if (is_shallow) changed_.notify_all();
  }
  /// Returns when live lanes are no longer deep, or when a stop is requested.
  void wait_while_deep(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return waiting_ < deep_; });
  }
  std::size_t waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting_;
  }

 private:
  const std::size_t deep_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t waiting_ = 0;
};

}  // namespace skua::writer
