#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace skua::writer {

/// The number of workers of a source that write at the same time. The others wait in order, and
/// their queues grow. A busier machine therefore has larger groups and fewer transactions: fifteen
/// connections that compete for two cores commit a tenth of a group, eight times as often. Any
/// thread.
class WriteTurns {
 public:
  /// Given back when it goes out of scope.
  class Turn {
   public:
    explicit Turn(WriteTurns& turns) : turns_(&turns) {}
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)) {}
    Turn& operator=(Turn&& other) noexcept {
      std::swap(turns_, other.turns_);
      return *this;
    }
    ~Turn() {
      if (turns_ != nullptr) turns_->give_back();
    }

   private:
    WriteTurns* turns_;
  };

  explicit WriteTurns(std::size_t at_once) : free_(at_once) {}

  /// Waits for a turn. Nothing: `stop` was asked for.
  std::optional<Turn> wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (free_ > 0) {
      --free_;
      return Turn(*this);
    }
    const auto self = waiting_.emplace(waiting_.end());
    self->called.wait(lock, stop, [&] { return self->has_turn; });
    const bool has_turn = self->has_turn;
    waiting_.erase(self);
    if (!has_turn) return std::nullopt;
    return Turn(*this);
  }

  /// How many wait.
  std::size_t waiting() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.size();
  }

 private:
  struct Waiter {
    std::condition_variable_any called;
    bool has_turn = false;
  };

  void give_back() {
    const std::scoped_lock lock(mutex_);
    for (Waiter& waiter : waiting_) {
      if (waiter.has_turn) continue;
      waiter.has_turn = true;
      waiter.called.notify_one();
      return;
    }
    ++free_;
  }

  mutable std::mutex mutex_;
  std::list<Waiter> waiting_;
  std::size_t free_;
};

}  // namespace skua::writer
