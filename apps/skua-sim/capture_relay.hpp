#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include "capture_index.hpp"
#include "event_log.hpp"
#include "faults.hpp"

namespace skua::sim {

struct RelayBehaviour {
  /// Where a connection without a cursor begins, counted from 0: what stands before is history.
  std::size_t live_from = 0;
  /// `cursor=N` sends N again.
  bool inclusive = false;
  /// A cursor beyond the last seq gets the FutureCursor error of a PDS; else silence, as from
  /// indigo.
  bool future_cursor_error = false;
  /// After the last frame the websocket is closed; else it stays open.
  bool close_at_end = false;
  /// Frames a second and connection; 0: as fast as the client takes them.
  double rate = 0;
  std::chrono::milliseconds ping_interval = std::chrono::seconds(30);
};

/// One connection, as the relay knows it.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Ends it without a word. More than once is harmless.
  virtual void abort() = 0;
};

/// What the connections of one relay share.
struct RelayState {
  const CaptureIndex& capture;
  const RelayBehaviour behaviour;
  FaultPlan faults;
  EventLog& log;
  int connections = 0;
};

/// A relay on loopback that serves a capture to any number of clients: subscribeRepos and the
/// health check, nothing else. Everything on the thread that runs the io_context.
class CaptureRelay {
 public:
  /// `tls` null: ws, http. What is passed must outlive the io_context's last run.
  CaptureRelay(boost::asio::io_context& io, RelayState& state, boost::asio::ssl::context* tls);

  /// Listens on 127.0.0.1 and, where there is IPv6, on ::1. Port 0: a free one. Throws
  /// boost::system::system_error when the port cannot be had.
  void listen(std::uint16_t port);
  std::uint16_t port() const { return port_; }

  /// Stops listening and ends all connections: the io_context then runs out of work.
  void stop();

 private:
  using Tcp = boost::asio::ip::tcp;

  void open(const Tcp::endpoint& address);
  boost::asio::awaitable<void> accept(Tcp::acceptor& acceptor);

  boost::asio::io_context& io_;
  RelayState& state_;
  boost::asio::ssl::context* tls_;
  std::uint16_t port_ = 0;
  std::list<Tcp::acceptor> acceptors_;
  std::list<std::weak_ptr<Connection>> connections_;
};

}  // namespace skua::sim
