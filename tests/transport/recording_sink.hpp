#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "transport/frame_sink.hpp"

namespace skua::test {

/// A sink that keeps what it gets and has as much credit as it is told. The waits return false
/// after a minute: on a busy machine and with a sanitizer some tests need several seconds.
class RecordingSink final : public transport::FrameSink {
 public:
  explicit RecordingSink(std::size_t credit = std::numeric_limits<std::size_t>::max())
      : credit_(credit) {}

  bool try_accept(transport::RawFrame& frame) override {
    const std::scoped_lock lock(mutex_);
    if (credit_ == 0) {
      ++refusals_;
      changed_.notify_all();
      return false;
    }
    --credit_;
    frames_.push_back(std::move(frame));
    changed_.notify_all();
    return true;
  }

  void on_ignored() override {
    const std::scoped_lock lock(mutex_);
    ++ignored_;
  }

  void when_room(std::function<void()> wake) override {
    {
      const std::scoped_lock lock(mutex_);
      if (credit_ == 0) {
        wake_ = std::move(wake);
        changed_.notify_all();
        return;
      }
    }
    wake();
  }

  void on_connected(std::uint64_t connection) override {
    const std::scoped_lock lock(mutex_);
    connected_.push_back(connection);
    changed_.notify_all();
  }

  void on_disconnected(const transport::Disconnection& end) override {
    const std::scoped_lock lock(mutex_);
    disconnected_.push_back(end);
    changed_.notify_all();
  }

  void give_credit(std::size_t frames) {
    std::function<void()> wake;
    {
      const std::scoped_lock lock(mutex_);
      credit_ += frames;
      wake = std::exchange(wake_, nullptr);
    }
    if (wake) wake();
  }

  /// Takes the wake function away, to call it at an odd time.
  std::function<void()> steal_wake() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(wake_, nullptr);
  }

  bool wait_for_frames(std::size_t count) {
    return wait([&] { return frames_.size() >= count; });
  }
  bool wait_for_connections(std::size_t count) {
    return wait([&] { return connected_.size() >= count; });
  }
  bool wait_for_disconnects(std::size_t count) {
    return wait([&] { return disconnected_.size() >= count; });
  }
  /// Until the client has asked to be woken.
  bool wait_until_holding() {
    return wait([&] { return wake_ != nullptr; });
  }

  std::vector<Bytes> frames() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Bytes> out;
    for (const auto& frame : frames_) out.push_back(frame.bytes);
    return out;
  }
  std::size_t frame_count() const {
    const std::scoped_lock lock(mutex_);
    return frames_.size();
  }
  bool is_text(std::size_t index) const {
    const std::scoped_lock lock(mutex_);
    return frames_.at(index).text;
  }
  Timestamp received_at(std::size_t index) const {
    const std::scoped_lock lock(mutex_);
    return frames_.at(index).received_at;
  }
  /// The numbers of the connections that stood.
  std::vector<std::uint64_t> connected() const {
    const std::scoped_lock lock(mutex_);
    return connected_;
  }
  std::vector<transport::Disconnection> disconnected() const {
    const std::scoped_lock lock(mutex_);
    return disconnected_;
  }
  std::string last_reason() const {
    const std::scoped_lock lock(mutex_);
    return disconnected_.empty() ? "" : disconnected_.back().reason;
  }
  /// Why each frame cannot be read.
  std::vector<ErrorCode> defects() const {
    const std::scoped_lock lock(mutex_);
    std::vector<ErrorCode> out;
    for (const auto& frame : frames_) out.push_back(frame.defect);
    return out;
  }
  std::size_t ignored() const {
    const std::scoped_lock lock(mutex_);
    return ignored_;
  }
  std::size_t refusals() const {
    const std::scoped_lock lock(mutex_);
    return refusals_;
  }

 private:
  template <class Condition>
  bool wait(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), condition);
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t credit_;
  std::size_t refusals_ = 0;
  std::size_t ignored_ = 0;
  std::function<void()> wake_;
  std::vector<transport::RawFrame> frames_;
  std::vector<std::uint64_t> connected_;
  std::vector<transport::Disconnection> disconnected_;
};

}  // namespace skua::test
