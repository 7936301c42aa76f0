#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include "dns_message.hpp"
#include "event_log.hpp"
#include "fault_plan.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// What the DNS server answers from. Must outlive the io_context's last run.
struct DnsSite {
  const Network& network;
  FaultPlan& faults;
  EventLog& log;
};

/// A DNS server (RFC 1035, 4.2.1: over UDP only; no answer is too long for that) for the network's
/// handles, with the faults that fall on questions. Everything on the thread that runs the
/// io_context, which is the network's.
class DnsServer {
 public:
  /// Binds to 127.0.0.1; who asks before `start` is answered then. Port 0: a free one. Throws
  /// boost::system::system_error when the port cannot be had. `io` must outlive the server.
  DnsServer(boost::asio::io_context& io, std::uint16_t port);

  /// `127.0.0.1:2001`
  const std::string& address() const { return address_; }

  /// Begins to answer; once. The server stays where it is from then on, until the io_context's last
  /// run. What cannot be received or sent is left out: the client asks again.
  void start(const DnsSite& site);
  /// Answers nobody any more: the io_context then runs out of work.
  void stop();

 private:
  using Udp = boost::asio::ip::udp;

  boost::asio::awaitable<void> serve(DnsSite site);

  Udp::socket socket_;
  std::string address_;
};

}  // namespace skua::sim
