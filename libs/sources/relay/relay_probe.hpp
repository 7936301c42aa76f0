#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "transport/endpoint.hpp"
#include "transport/frame_sink.hpp"
#include "transport/stream_client.hpp"

namespace skua::sources {

/// Finds the current sequence number of a relay: connects without a cursor and waits for one frame
/// with a number. Starts in the constructor, on a thread of its own. The destructor ends the
/// connection.
class RelayProbe final : private transport::FrameSink {
 public:
  struct Answer {
    /// Nothing: the relay could not be reached, or sent no frame in time.
    std::optional<std::int64_t> seq;
  };

  RelayProbe(transport::Endpoint relay, const std::string& ca_file,
             std::chrono::milliseconds patience);

  std::chrono::steady_clock::time_point begun_at() const { return begun_at_; }
  /// Nothing: the probe has not ended. Does not wait.
  std::optional<Answer> answer() const;

 private:
  bool try_accept(transport::RawFrame& frame) override;
  std::optional<std::string> wants_end() override;
  void when_room(std::function<void()> wake) override { wake(); }
  void on_connected(std::uint64_t /*connection*/) override {}
  void on_disconnected(const transport::Disconnection& end) override;

  const std::chrono::steady_clock::time_point begun_at_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::optional<Answer> answer_;
  // The last member: its thread uses the others.
  transport::StreamClient client_;
};

}  // namespace skua::sources
