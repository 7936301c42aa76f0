#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "fault.hpp"
#include "tap/outbox.hpp"
#include "tap/tracker.hpp"
#include "websocket_session.hpp"

namespace skua::sim {

struct TapOptions {
  TapSettings settings;
  /// Of `admin`; empty: none.
  std::string password;
  /// An event is sent again when its ack has not come after so long, at the latest after twice so
  /// long.
  std::chrono::milliseconds retry_after = std::chrono::minutes(1);
};

/// A Tap beside the network: reads repositories while its outbox has room, looks for events to be
/// sent again, and has one queue for all its clients. On the thread of the io_context, which must
/// outlive it.
class TapHost {
 public:
  using Clock = std::chrono::steady_clock;

  TapHost(boost::asio::io_context& io, const Network& network, const TapOptions& options,
          SessionHost sessions);

  void start();
  /// For good.
  void stop();
  /// Called when it begins anew: its connections are to be dropped.
  void on_restart(std::function<void()> drop) { drop_connections_ = std::move(drop); }

  void hear(std::size_t host, const Message& message);
  void ack(std::uint64_t id);
  void restart(TapOutbox::End end);
  /// Does a fault of Tap. False: there is no account yet to make it of.
  bool befall(const Fault& fault);

  TapTracker& tracker() { return tracker_; }
  TapOutbox& outbox() { return outbox_; }
  SessionHost& sessions() { return sessions_; }
  /// As /state shows it.
  nlohmann::ordered_json figures() const;

  /// Whoever waits for a message, and how it is woken.
  void join(int number, std::function<void()> wake) { clients_[number] = std::move(wake); }
  void part(int number) { clients_.erase(number); }
  /// To be called after anything that may have brought messages.
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

}  // namespace skua::sim
