#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "base/guarded.hpp"
#include "transport/impl/address_lookup.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/inbox.hpp"
#include "transport/impl/refusal.hpp"
#include "transport/reconnect_policy.hpp"
#include "transport/stream_client.hpp"

namespace skua::transport::impl {

/// The queue of messages for the current connection. Any thread adds messages, and the client's
/// thread removes them.
class Outgoing {
 public:
  explicit Outgoing(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Begins a connection, which accepts messages.
  void open(std::uint64_t connection) {
    queue_.with([&](Queue& queue) { queue = {connection, 0, {}}; });
  }

  /// Accepts no more messages. Queued messages may still be sent.
  void close() {
    queue_.with([](Queue& queue) { queue.connection = kNone; });
  }

  struct Put {
    SendOutcome outcome = SendOutcome::Gone;
    /// Whether the queue was empty, so that the sender must be woken.
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

/// The state that the sessions of a client share. It outlives them.
struct SessionContext {
  boost::asio::io_context& io;
  std::shared_ptr<Inbox> inbox;
  boost::asio::ssl::context* tls;  // null for ws
  const StreamClientOptions& options;
  FrameSink& sink;
  ReconnectPolicy& policy;
  Outgoing& outgoing;
  StreamStatistics& statistics;
};

/// One attempt to connect and, if it succeeds, the connection until its end. It lives on the
/// client's thread. A shared_ptr owns it, because its coroutines outlive `run` for a moment.
class StreamSession : public std::enable_shared_from_this<StreamSession> {
 public:
  virtual ~StreamSession() = default;

  /// Connects, requests `target`, reads until the end, and returns the reason of the end.
  /// `next_attempt_in` of the result is the wait that the server asks for.
  Awaitable<Disconnection> run(std::string target);

  /// Tells the session that messages wait to be sent.
  void texts_wait() { outgoing_.cancel(); }

  /// Ends the connection for this reason. Has no effect before the connection is established.
  void abandon(std::string reason);

  /// Ends `run`, with a close handshake if a websocket is open, otherwise at once.
  void stop();

 protected:
  explicit StreamSession(const SessionContext& context);

  /// Returns the underlying TCP socket.
  virtual Socket& socket() = 0;
  /// Does the TLS handshake, if any, and the websocket upgrade. Returns nothing on success,
  /// otherwise the reason of the failure.
  virtual Awaitable<std::optional<std::string>> open_websocket(std::string target) = 0;
  /// Takes a message of the requested kinds that was already read from the connection into `frame`.
  /// Returns false if there is none; only `read_frame` can then get the next message.
  virtual bool take_frame(RawFrame& frame) = 0;
  /// Reads one message of the requested kinds into `frame`. Returns nothing on success, otherwise
  /// the reason why the connection ended.
  virtual Awaitable<std::optional<std::string>> read_frame(RawFrame& frame) = 0;
  virtual Awaitable<ErrorCode> write_text(const std::string& text) = 0;
  virtual Awaitable<ErrorCode> ping() = 0;
  virtual Awaitable<void> close() = 0;

  /// The other side sent a close frame. It must end the connection within `close_timeout`.
  void expect_end();
  /// A message of any kind arrived.
  void message_came();
  void pong_came();
  /// The server refused the upgrade.
  void refused(UpgradeRefusal refusal) { refusal_ = std::move(refusal); }
  /// The server's certificate is not valid.
  void certificate_refused() { problem_ = &problem("source-tls"); }
  /// Sets the current step of connecting, which the message names if the step takes too long.
  void at_stage(const char* stage) { stage_ = stage; }

  SessionContext context_;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  Awaitable<std::optional<std::string>> connect();
  Awaitable<std::optional<std::string>> find_addresses(std::vector<Tcp::endpoint>& addresses);
  Awaitable<ErrorCode> connect_to(const Tcp::endpoint& address, TimePoint until);
  /// The websocket is open.
  void begin();
  Awaitable<std::string> read_frames();
  Awaitable<void> wait_for_room();
  Awaitable<void> write_texts();
  Awaitable<void> send_pings();
  Awaitable<void> watch();
  Awaitable<void> close_politely();

  /// Closes the socket, which ends every operation on it.
  void abort();
  void set_deadline(std::chrono::milliseconds from_now);
  void lift_deadline();
  void end();

  AddressLookup lookup_;
  Timer deadline_;  // for connecting, later for closing
  Timer step_;      // for the current step: one address, or credit
  Timer pings_;
  Timer watchdog_;
  Timer outgoing_;  // cancelled if a message must be sent, or if waiting for one is pointless
  TimePoint connect_until_;
  TimePoint last_message_;
  const char* stage_ = "";
  UpgradeRefusal refusal_;
  /// The problem that a failed attempt to connect shows.
  const Problem* problem_ = &problem("source-down");
  bool open_ = false;
  bool holding_ = false;   // the sink has no credit, so we do not read
  bool has_room_ = false;  // the sink has room again
  bool ended_ = false;     // pings and watchdog must stop
  bool writing_ = false;   // write_texts is running
  bool stopping_ = false;
  bool aborted_ = false;
  bool timed_out_ = false;                // connecting took too long
  bool silent_ = false;                   // the watchdog ended the connection
  std::optional<std::string> abandoned_;  // why the caller ended the connection
};

/// A session over ws or wss, depending on the endpoint.
std::shared_ptr<StreamSession> make_stream_session(const SessionContext& context);

}  // namespace skua::transport::impl
