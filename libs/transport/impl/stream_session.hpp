#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>

#include "transport/impl/address_lookup.hpp"
#include "transport/impl/asio_types.hpp"
#include "transport/impl/inbox.hpp"
#include "transport/impl/outgoing.hpp"
#include "transport/impl/upgrade_refusal.hpp"
#include "transport/reconnect_policy.hpp"
#include "transport/stream_client.hpp"

namespace skua::transport::impl {

/// Shared state of the sessions of a client; it outlives them.
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

/// One attempt to connect and, if it succeeds, the connection until its end. On the client's
/// thread; held by shared_ptr because its coroutines outlive `run` for a moment.
class StreamSession : public std::enable_shared_from_this<StreamSession> {
 public:
  virtual ~StreamSession() = default;

  /// Connects, asks for `target`, reads until the end, and says why it ended (but for
  /// Disconnection::next_attempt_in).
  Awaitable<Disconnection> run(std::string target);

  /// There are messages to send.
  void texts_wait() { outgoing_.cancel(); }

  /// Ends the connection for this reason. Nothing happens before it stands.
  void give_up(std::string reason);

  /// Ends `run`: with a close handshake where a websocket is open, else at once.
  void stop();

 protected:
  explicit StreamSession(const SessionContext& context);

  /// The TCP socket under everything.
  virtual Socket& socket() = 0;
  /// TLS, if any, and the websocket upgrade. Nothing: it is open; else why not.
  virtual Awaitable<std::optional<std::string>> open_websocket(std::string target) = 0;
  /// Reads one message of the kinds wanted. Nothing: `frame` has it; else why the connection ended.
  virtual Awaitable<std::optional<std::string>> read_frame(RawFrame& frame) = 0;
  virtual Awaitable<ErrorCode> write_text(const std::string& text) = 0;
  virtual Awaitable<ErrorCode> ping() = 0;
  virtual Awaitable<void> close() = 0;

  /// The other side sent a close frame: it gets `close_timeout` to end the connection.
  void expect_end();
  /// A message of whatever kind came.
  void message_came();
  void pong_came();
  /// The server refused the upgrade.
  void refused(UpgradeRefusal refusal) { refusal_ = std::move(refusal); }
  /// What connecting waits for now, for the message when it takes too long.
  void at_stage(const char* stage) { stage_ = stage; }

  SessionContext context_;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  Awaitable<std::optional<std::string>> connect();
  Awaitable<std::optional<std::string>> find_addresses(std::vector<Tcp::endpoint>& addresses);
  Awaitable<ErrorCode> connect_to(const Tcp::endpoint& address, TimePoint until);
  /// The websocket stands.
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
  Timer deadline_;  // of connecting, later of closing
  Timer step_;      // of the current step: one address, credit
  Timer pings_;
  Timer watchdog_;
  Timer outgoing_;  // cancelled when there is something to send, or no sense in waiting for it
  TimePoint connect_until_;
  TimePoint last_message_;
  const char* stage_ = "";
  UpgradeRefusal refusal_;
  bool open_ = false;      // the websocket stands
  bool holding_ = false;   // the sink has no credit: not reading is our own doing
  bool has_room_ = false;  // the sink has called for more
  bool ended_ = false;     // pings and watchdog have no work any more
  bool writing_ = false;   // write_texts runs
  bool stopping_ = false;
  bool aborted_ = false;
  bool timed_out_ = false;               // connecting took too long
  bool silent_ = false;                  // the watchdog ended it
  std::optional<std::string> given_up_;  // why somebody ended it
};

/// A session over ws or wss, as the endpoint says.
std::shared_ptr<StreamSession> make_stream_session(const SessionContext& context);

}  // namespace skua::transport::impl
