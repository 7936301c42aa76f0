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

/// The websocket messages that are frames. The sink is told of other messages
/// (FrameSink::on_ignored).
enum class MessageKinds : std::uint8_t { Binary, Text, Both };

struct StreamClientOptions {
  Endpoint endpoint;
  /// Called before each attempt, on the client's thread. Returns path and query of the request.
  /// Must not throw. If empty, the endpoint's path and query are used.
  std::function<std::string()> target;
  /// The headers of the request for a websocket.
  std::vector<HttpHeader> headers;
  /// The requested subprotocol (RFC 6455, section 1.9), or an empty text. A server that chooses
  /// another subprotocol is refused; a server that chooses none is accepted.
  std::string subprotocol;
  MessageKinds messages = MessageKinds::Binary;
  /// The name of the other side in error messages.
  std::string peer = "the server";
  /// A PEM file with certificates to trust besides the system's. May be empty.
  std::string ca_file;
  /// The header User-Agent. If empty, the client sends `skua/<version>`.
  std::string user_agent;
  /// The limit for name look-up, TCP, TLS and websocket upgrade together.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(15);
  /// The connection is closed if no message arrives for this time. Time in which the sink has no
  /// credit does not count.
  std::chrono::milliseconds read_timeout = std::chrono::seconds(60);
  /// The interval must be shorter than `read_timeout`.
  std::chrono::milliseconds ping_interval = std::chrono::seconds(30);
  /// Whether a pong counts as a message, for sources that may be silent for hours (Tap). Otherwise
  /// a server that only answers pings is disconnected too.
  bool may_be_silent = false;
  /// Replaces `may_be_silent` if the answer changes at run time. Called for each pong, on the
  /// client's thread. May be empty.
  std::function<bool()> may_be_silent_now;
  /// The time that `stop()` waits until queued messages are sent and the close is answered.
  std::chrono::milliseconds close_timeout = std::chrono::seconds(2);
  /// The sink gets only the beginning of a longer message (RawFrame::defect). The rest is read and
  /// discarded, and must arrive within `read_timeout`.
  std::size_t max_frame_bytes = kMaxFrameBytes;
  /// The limit in bytes of the queue of `send`. As many bytes again may be in transmission.
  std::size_t max_queued_bytes = 1024 * 1024;
  ReconnectPolicy::Options reconnect;
  /// The longest additional wait that a server can ask for, with Retry-After in an answer 429 or
  /// 503 to the upgrade.
  std::chrono::milliseconds longest_asked_wait = std::chrono::minutes(5);
  /// Returns the jitter in [0, 1). If empty, the client has its own generator.
  std::function<double()> random;
  /// Runs on a separate thread, which may outlive the client.
  HostLookup lookup = look_up_host;
  /// Whether only addresses of the public internet are permitted (address_guard.hpp), of which at
  /// most 8 are tried. For an endpoint that comes from the network.
  bool public_addresses_only = false;
  /// The clock for `RawFrame::received_at`. It must outlive the client.
  const Clock* clock = &system_clock();
};

/// Counters since the start. The client's thread writes them, but any thread writes
/// `sends_refused`. Any thread may read them.
struct StreamStatistics {
  std::atomic<std::uint64_t> frames{0};
  std::atomic<std::uint64_t> bytes{0};
  /// Successful connections, including the first.
  std::atomic<std::uint64_t> connections{0};
  /// Failed attempts, and connections that `stop()` did not end.
  std::atomic<std::uint64_t> failures{0};
  /// The number of times that reading waited for credit.
  std::atomic<std::uint64_t> waits_for_room{0};
  /// Messages that were passed to the system to send.
  std::atomic<std::uint64_t> sent{0};
  /// Messages for which the queue had no room.
  std::atomic<std::uint64_t> sends_refused{0};
  std::atomic<bool> connected{false};
};

/// The result of `send`.
enum class SendOutcome : std::uint8_t {
  /// The message will be sent in order, unless the connection ends before.
  Queued,
  /// The other side is too slow. The message was not queued; try again later.
  Full,
  /// The connection of the message has ended, so the message will never be sent.
  Gone,
};

/// Maintains one websocket connection to a source and passes its messages to a sink, in order, on a
/// thread of its own. When a connection ends, the client reconnects with backoff to the target that
/// the options return; only `stop()` ends this. While the sink has no credit the client does not
/// read. This bounds the memory, and TCP slows the other side down.
class StreamClient {
 public:
  /// Throws std::runtime_error if the CA file for a wss endpoint cannot be used, and
  /// std::invalid_argument for a header that would break the request. `sink` must outlive the
  /// client.
  StreamClient(StreamClientOptions options, FrameSink& sink);
  /// Calls `stop` if necessary.
  ~StreamClient();
  StreamClient(const StreamClient&) = delete;
  StreamClient& operator=(const StreamClient&) = delete;

  /// Starts the thread. Must be called once.
  void start();

  /// Sends queued messages, closes the connection within `close_timeout`, and joins the thread.
  /// Afterwards the client does not call the sink. Any thread except the client's own; idempotent.
  void stop();

  /// Queues a text message for the connection with this number (FrameSink::on_connected). Messages
  /// are sent in order. A message belongs to one connection, because the id of an acknowledgement
  /// may mean another message on the next connection. Any thread; does not block.
  SendOutcome send(std::uint64_t connection, std::string text);

  /// Ends the current connection, if there is one. The next connection may use another target.
  /// FrameSink::on_disconnected gets `reason`. Any thread; does not block.
  void reconnect(std::string reason);

  const StreamStatistics& statistics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the options of a client for a relay's or PDS's subscribeRepos
/// (atproto.com/specs/event-stream). `cursor` is called before each attempt, on the client's
/// thread, and returns the position to continue from, or nothing to begin at the live end. `cursor`
/// must not throw.
StreamClientOptions relay_stream(Endpoint relay,
                                 std::function<std::optional<std::int64_t>()> cursor);

}  // namespace skua::transport
