#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "transport/address_guard.hpp"
#include "transport/endpoint.hpp"
#include "transport/frame_sink.hpp"
#include "transport/http_client.hpp"
#include "transport/reconnect_policy.hpp"

namespace skua::transport {

/// Which websocket messages are frames; the sink is told of others (FrameSink::on_ignored).
enum class MessageKinds : std::uint8_t { Binary, Text, Both };

struct StreamClientOptions {
  Endpoint endpoint;
  /// Called before each attempt, on the client's thread; returns path and query of the request.
  /// Must not throw. Empty: those of the endpoint.
  std::function<std::string()> target;
  /// Sent with the request for a websocket.
  std::vector<HttpHeader> headers;
  /// The requested subprotocol (RFC 6455, section 1.9); empty: none. A server that chooses another
  /// one is refused; a server that chooses none is accepted.
  std::string subprotocol;
  MessageKinds messages = MessageKinds::Binary;
  /// How error messages name the other side.
  std::string peer = "the server";
  /// A PEM file with certificates to trust besides the system's; empty: none.
  std::string ca_file;
  /// Empty: `skua/<version>`.
  std::string user_agent;
  /// For name look-up, TCP, TLS and websocket upgrade together.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(15);
  /// Without a message for this long the connection is closed. Time in which the sink has no credit
  /// does not count.
  std::chrono::milliseconds read_timeout = std::chrono::seconds(60);
  /// Shorter than `read_timeout`.
  std::chrono::milliseconds ping_interval = std::chrono::seconds(30);
  /// A pong counts as a message: for sources that may be silent for hours (Tap). Otherwise a server
  /// that only answers pings is disconnected too.
  bool may_be_silent = false;
  /// The same if it changes at run time: called for each pong, on the client's thread. Empty:
  /// never.
  std::function<bool()> may_be_silent_now;
  /// How long `stop()` waits until queued messages are sent and the close is answered.
  std::chrono::milliseconds close_timeout = std::chrono::seconds(2);
  /// Of a longer message the sink gets the beginning (RawFrame::defect). Its rest is read and
  /// discarded; it must arrive within `read_timeout`.
  std::size_t max_frame_bytes = kMaxFrameBytes;
  /// The limit of the queue of `send`. The same amount again may be in transmission.
  std::size_t max_queued_bytes = 1024 * 1024;
  ReconnectPolicy::Options reconnect;
  /// The longest wait that a server can ask for in addition, with Retry-After in an answer 429 or
  /// 503 to the upgrade.
  std::chrono::milliseconds longest_asked_wait = std::chrono::minutes(5);
  /// Jitter over [0, 1); empty: a generator of its own.
  std::function<double()> random;
  /// Runs on a thread of its own, which may outlive the client.
  HostLookup lookup = look_up_host;
  /// Connects to addresses of the public internet only (address_guard.hpp), and tries 8 of them at
  /// most: for an endpoint that comes from the network.
  bool public_addresses_only = false;
  /// For `RawFrame::received_at`. Must outlive the client.
  const Clock* clock = &system_clock();
};

/// Counters since the start. Written by the client's thread, `sends_refused` by any; read by any.
struct StreamStatistics {
  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> bytes{0};
  /// Successful connections, including the first.
  std::atomic<std::uint64_t> connections{0};
  /// Failed attempts, and connections that ended other than by `stop()`.
  std::atomic<std::uint64_t> failures{0};
  /// How often reading waited for credit.
  std::atomic<std::uint64_t> waits_for_room{0};
  /// Messages that were passed to the system to send.
  std::atomic<std::uint64_t> sent{0};
  /// Messages for which the queue had no room.
  std::atomic<std::uint64_t> sends_refused{0};
  std::atomic<bool> connected{false};
};

/// The result of `send`.
enum class SendOutcome : std::uint8_t {
  /// It will be sent in order, unless the connection ends before.
  Queued,
  /// The other side is too slow: not queued, try again later.
  Full,
  /// Its connection has ended: it will never be sent.
  Gone,
};

/// Maintains one websocket connection to a source and passes its messages to a sink, in order, on a
/// thread of its own. When a connection ends, it reconnects with backoff to the target that the
/// options return; only `stop()` ends this. While the sink has no credit it does not read. This
/// bounds the memory, and TCP slows the other side down.
class StreamClient {
 public:
  /// Throws std::runtime_error if the CA file for a wss endpoint cannot be used,
  /// std::invalid_argument for a header that would break the request. `sink` must outlive the
  /// client.
  StreamClient(StreamClientOptions options, FrameSink& sink);
  /// Calls `stop` if necessary.
  ~StreamClient();
  StreamClient(const StreamClient&) = delete;
  StreamClient& operator=(const StreamClient&) = delete;

  /// Starts the thread. Once.
  void start();

  /// Sends queued messages, closes the connection within `close_timeout`, and joins the thread.
  /// Afterwards it does not call the sink. Any thread except the client's own; idempotent.
  void stop();

  /// Queues a text message for the connection with this number (FrameSink::on_connected). Messages
  /// are sent in order. They belong to one connection, because the id of an acknowledgement may
  /// mean another message on the next one. Any thread; does not block.
  SendOutcome send(std::uint64_t connection, std::string text);

  /// Ends the current connection, if there is one; the next may use another target. `reason` is
  /// passed to FrameSink::on_disconnected. Any thread; does not block.
  void reconnect(std::string reason);

  const StreamStatistics& statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The options of a client for a relay's or PDS's subscribeRepos (atproto.com/specs/event-stream).
/// `cursor` is called before each attempt, on the client's thread, and returns the position to
/// continue from; nothing: live. It must not throw.
StreamClientOptions relay_stream(Endpoint relay,
                                 std::function<std::optional<std::int64_t>()> cursor);

}  // namespace skua::transport
