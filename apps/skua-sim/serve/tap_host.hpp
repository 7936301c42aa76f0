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
  /// Tracks all accounts of the network; otherwise only those of POST /repos/add.
  bool full_network = true;
  /// The password of `admin`; empty: none.
  std::string password;
  /// An event is sent again if it is not acked within this time; the resend happens at the latest
  /// after twice this time.
  std::chrono::milliseconds retry_after = std::chrono::minutes(1);
};

/// A Tap for the network: reads repositories while its outbox has room, resends unacked events, and
/// has one queue for all its clients. On the thread of the io_context, which must outlive it.
class TapHost {
 public:
  using Clock = std::chrono::steady_clock;

  TapHost(boost::asio::io_context& io, const Network& network, const TapOptions& options,
          SessionHost sessions);

  void start();
  /// Cannot be started again.
  void stop();
  /// Called when it restarts: its connections must be dropped.
  void on_restart(std::function<void()> drop) { drop_connections_ = std::move(drop); }

  void hear(std::size_t host, const Message& message);
  void ack(std::uint64_t id);
  void restart(TapOutbox::End end);
  /// Carries out a fault of Tap. False: there is no account yet to use.
  bool inject(const Fault& fault);

  TapTracker& tracker() { return tracker_; }
  TapOutbox& outbox() { return outbox_; }
  SessionHost& sessions() { return sessions_; }
  /// For /state.
  nlohmann::ordered_json metrics() const;

  /// Registers a client that waits for a message, with the function that wakes it.
  void join(int number, std::function<void()> wake) { clients_[number] = std::move(wake); }
  void part(int number) { clients_.erase(number); }
  /// Call it after anything that may have added messages.
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

/// Tap's /channel.
WebsocketOffer offer_channel(TapHost& host);

/// The HTTP routes of Tap besides /channel: /health, /repos/add, /repos/remove, /resolve/:did,
/// /info/:did, /stats/*. `relay`: the source of its cursor. The arguments must outlive the router.
Router tap_routes(TapHost& tap, const Network& network, const MessageLog& relay);

/// The control routes of Tap for tests: POST /tap/resync and GET /tap/stalled.
void add_tap_control(Router& router, TapHost& tap);

}  // namespace skua::sim
