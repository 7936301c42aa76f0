#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "serve/fault.hpp"
#include "serve/router.hpp"
#include "serve/websocket_session.hpp"
#include "tap/outbox.hpp"
#include "tap/tracker.hpp"
#include "world/message_log.hpp"

namespace skua::sim {

struct TapOptions {
  /// If true, Tap tracks all accounts of the network; otherwise only those of POST /repos/add.
  bool full_network = true;
  /// The password of `admin`; empty if there is none.
  std::string password;
  /// An event that is not acked within this time is sent again, at the latest after twice this
  /// time.
  std::chrono::milliseconds retry_after = std::chrono::minutes(1);
};

/// A Tap for the network: reads repositories while its outbox has room, resends unacked events, and
/// has one queue for all its clients. Runs on the thread of the io_context, which must outlive the
/// Tap.
class TapHost {
 public:
  using Clock = std::chrono::steady_clock;

  TapHost(boost::asio::io_context& io, const Network& network, const TapOptions& options,
          SessionHost sessions);

  void start();
  /// Stops the Tap, which cannot be started again.
  void stop();
  /// Sets the function that a restart calls to drop the connections of the Tap.
  void on_restart(std::function<void()> drop) { drop_connections_ = std::move(drop); }

  void hear(std::size_t host, const Message& message);
  void ack(std::uint64_t id);
  void restart(TapOutbox::End end);
  /// Carries out a fault of Tap. Returns false if there is no usable account yet.
  bool inject(const Fault& fault);

  TapTracker& tracker() { return tracker_; }
  TapOutbox& outbox() { return outbox_; }
  SessionHost& sessions() { return sessions_; }
  /// Returns the metrics for /state.
  nlohmann::ordered_json metrics() const;

  /// Registers a client that waits for a message, with the function that wakes the client.
  void join(int number, std::function<void()> wake) { clients_[number] = std::move(wake); }
  void part(int number) { clients_.erase(number); }
  /// Wakes the waiting clients. To be called after each change that may have added messages.
  void wake_clients();

 private:
  void read_repositories();
  void retry();

  TapOutbox outbox_;
  TapTracker tracker_;
  const std::chrono::milliseconds retry_after_;
  SessionHost sessions_;
  boost::asio::steady_timer reading_;
  boost::asio::steady_timer retries_;
  std::map<int, std::function<void()>> clients_;
  std::function<void()> drop_connections_;
  bool stopped_ = false;
};

/// Offers Tap's /channel.
WebsocketOffer offer_channel(TapHost& host);

/// Returns the HTTP routes of Tap besides /channel: /health, /repos/add, /repos/remove,
/// /resolve/:did, /info/:did, /stats/*. `relay` is the source of Tap's cursor. The arguments must
/// outlive the router.
Router tap_routes(TapHost& tap, const Network& network, const MessageLog& relay);

/// Adds the control routes of Tap for tests: POST /tap/resync and GET /tap/stalled.
void add_tap_control(Router& router, TapHost& tap);

}  // namespace skua::sim
