#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/time.hpp"
#include "transport/endpoint.hpp"
#include "transport/frame_sink.hpp"
#include "transport/host_lookup.hpp"
#include "transport/reconnect_policy.hpp"

namespace skua::transport {

struct RelayClientOptions {
  Endpoint endpoint;
  /// Asked before each attempt, on the client's thread: the position to continue from; nothing:
  /// live. Must not throw.
  std::function<std::optional<std::int64_t>()> cursor = [] { return std::nullopt; };
  /// A PEM file with certificates to trust besides the system's; empty: none.
  std::string ca_file;
  /// Empty: `skua/<version>`.
  std::string user_agent;
  /// For name look-up, TCP, TLS and websocket upgrade together.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(15);
  /// Without a message for this long the connection is given up. The time in which the sink has no
  /// credit does not count.
  std::chrono::milliseconds read_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds ping_interval = std::chrono::seconds(30);
  /// How long `stop()` waits for the relay's answer to the close.
  std::chrono::milliseconds close_timeout = std::chrono::seconds(2);
  /// A longer message ends the connection.
  std::size_t max_frame_bytes = kMaxFrameBytes;
  ReconnectPolicy::Options reconnect;
  /// Jitter over [0, 1); empty: a generator of its own.
  std::function<double()> random;
  /// Runs on a thread of its own, which may outlive the client.
  HostLookup lookup = look_up_host;
  /// For `RawFrame::received_at`. Must outlive the client.
  const Clock* clock = &system_clock();
};

/// What happened so far. Written by the client's thread, read by any.
struct RelayStatistics {
  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> bytes{0};
  /// Connections that stood, the first included.
  std::atomic<std::uint64_t> connections{0};
  /// Attempts and connections that ended other than by `stop()`.
  std::atomic<std::uint64_t> failures{0};
  /// Text messages, which the protocol does not have.
  std::atomic<std::uint64_t> ignored_messages{0};
  /// Times that reading waited for credit.
  std::atomic<std::uint64_t> waits_for_room{0};
  std::atomic<bool> connected{false};
};

/// Keeps one subscribeRepos connection alive and gives its frames to a sink, in order, on a thread
/// of its own (atproto.com/specs/event-stream). When a connection ends it makes the next one, with
/// backoff, from the cursor it is then told; it ends only by `stop()`. What the sink has no credit
/// for is not read, so that memory is bounded by the sink and TCP slows the relay down.
class RelayClient {
 public:
  /// Throws std::runtime_error when a wss endpoint's CA file cannot be used. `sink` must outlive
  /// the client.
  RelayClient(RelayClientOptions options, FrameSink& sink);
  /// Stops if need be.
  ~RelayClient();
  RelayClient(const RelayClient&) = delete;
  RelayClient& operator=(const RelayClient&) = delete;

  /// Starts the thread. Once.
  void start();

  /// Closes the connection politely, at most `close_timeout` long, and joins the thread: afterwards
  /// the sink is not called any more. Any thread but the client's own; again is harmless.
  void stop();

  const RelayStatistics& statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::transport
