#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include "serve/dns_message.hpp"
#include "serve/event_frame.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// The data of the DNS server's answers. The object must outlive the io_context's last run.
struct DnsSite {
  const Network& network;
  EventLog& log;
};

/// A DNS server (RFC 1035, 4.2.1: UDP only, because every answer fits) for the network's handles.
/// Runs entirely on the thread of the io_context, which is the
/// network's thread.
class DnsServer {
 public:
  /// Binds to 127.0.0.1. Queries that arrive before `start` are answered after it. With port 0 the
  /// system chooses a free port. Throws boost::system::system_error if the port is not available.
  /// `io` must outlive the server.
  DnsServer(boost::asio::io_context& io, std::uint16_t port);

  /// Returns an address such as `127.0.0.1:2001`.
  const std::string& address() const { return address_; }

  /// Begins to answer. To be called once. The server must not move until the io_context's last run.
  /// Failures of receiving and sending are ignored, because the client repeats its query.
  void start(const DnsSite& site);
  /// Stops answering, so that the io_context runs out of work.
  void stop();

 private:
  using Udp = boost::asio::ip::udp;

  boost::asio::awaitable<void> serve(DnsSite site);

  Udp::socket socket_;
  std::string address_;
};

}  // namespace skua::sim
