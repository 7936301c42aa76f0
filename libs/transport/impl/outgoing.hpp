#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "transport/stream_client.hpp"

namespace skua::transport::impl {

/// The queue of messages for the current connection. Filled by any thread, emptied by the client's
/// thread.
class Outgoing {
 public:
  explicit Outgoing(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// A connection was established and accepts messages.
  void open(std::uint64_t connection) {
    queue_.with([&](Queue& queue) { queue = {connection, 0, {}}; });
  }

  /// Accepts no more messages; queued ones may still be sent.
  void close() {
    queue_.with([](Queue& queue) { queue.connection = kNone; });
  }

  struct Put {
    SendOutcome outcome = SendOutcome::Gone;
    /// The queue was empty: the sender must be woken.
    bool first = false;
  };

  Put put(std::uint64_t connection, std::string text) {
    return queue_.with([&](Queue& queue) -> Put {
      if (connection == kNone || connection != queue.connection) return {SendOutcome::Gone, false};
      if (queue.bytes + text.size() > max_bytes_) return {SendOutcome::Full, false};
      queue.bytes += text.size();
      queue.texts.push_back(std::move(text));
      return {SendOutcome::Queued, queue.texts.size() == 1};
    });
  }

  /// Removes and returns all queued messages, in order.
  std::vector<std::string> take() {
    return queue_.with([](Queue& queue) {
      queue.bytes = 0;
      return std::exchange(queue.texts, {});
    });
  }

 private:
  static constexpr std::uint64_t kNone = 0;

  struct Queue {
    std::uint64_t connection = kNone;
    std::size_t bytes = 0;
    std::vector<std::string> texts;
  };

  const std::size_t max_bytes_;
  Guarded<Queue> queue_;
};

}  // namespace skua::transport::impl
