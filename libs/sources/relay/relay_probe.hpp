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

/// Asks a relay where it stands: connects without a cursor and waits for one frame that has a
/// number. Begins when it is made, on a thread of its own; destroying it ends the connection.
class RelayProbe final : private transport::FrameSink {
 public:
  struct Answer {
    /// Nothing: it could not be reached, or said nothing in time.
    std::optional<std::int64_t> seq;
  };

  RelayProbe(transport::Endpoint relay, const std::string& ca_file,
             std::chrono::milliseconds patience);

  std::chrono::steady_clock::time_point begun_at() const { return begun_at_; }
  /// Nothing yet: it is still under way. Does not wait.
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
  // The last: its thread calls the above.
  transport::StreamClient client_;
};

}  // namespace skua::sources
