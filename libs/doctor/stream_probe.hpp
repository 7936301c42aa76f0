#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "transport/endpoint.hpp"
#include "transport/frame_sink.hpp"
#include "transport/stream_client.hpp"

namespace skua::doctor {

/// One attempt to open a websocket to a source, on a thread of its own. It reads no message.
class StreamProbe final : private transport::FrameSink {
 public:
  /// Begins. `limit`: for name look-up, TCP, TLS and websocket together. Throws std::runtime_error
  /// if the CA file cannot be used.
  StreamProbe(transport::Endpoint source, const std::string& ca_file,
              std::chrono::milliseconds limit);

  /// Waits for the result: why there is no websocket; empty: it was opened.
  std::string wait();

 private:
  bool try_accept(transport::RawFrame& /*frame*/) override { return false; }
  void when_room(std::function<void()> /*wake*/) override {}
  void on_connected(std::uint64_t connection) override;
  void on_disconnected(const transport::Disconnection& end) override;

  void end(const std::string& failure);

  const std::chrono::steady_clock::time_point deadline_;
  std::mutex mutex_;
  std::condition_variable changed_;
  /// The result; nothing: not yet.
  std::optional<std::string> failure_;
  // The last member: its thread uses the others.
  transport::StreamClient client_;
};

}  // namespace skua::doctor
