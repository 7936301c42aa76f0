#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "serve/event_frame.hpp"
#include "serve/fault.hpp"
#include "world/message_log.hpp"
#include "world/network.hpp"

namespace skua::sim {

struct SimulationSettings {
  NetworkSettings network;
  /// The number of record operations and account or identity events per second.
  double rate = 100;
  /// The network stops acting after this number of events; 0 for no limit.
  std::uint64_t events = 0;
  /// The relay's first number.
  std::int64_t first_seq = 1;
  /// If true, a second relay sends the same messages with other numbers: every third number from
  /// 1,000 on.
  bool second_relay = false;
  /// The account of the fault silent-account.
  std::string silent_did;
  /// The size of the relay's window. The PDSes together keep the same amount.
  std::size_t window_bytes = 512 * std::size_t{1024} * 1024;
};

/// A network in real time. A timer steps the network at the requested rate, and its messages go to
/// the logs of their host and of the relay. The faults of the stream are applied. If the machine is
/// too slow for the rate, the simulation runs as fast as possible and discards a backlog of more
/// than a second. Runs on the thread of the io_context, which must outlive the simulation.
class Simulation {
 public:
  /// Creates the accounts and their records, which may take a while. `host_urls` has the meaning of
  /// that of Network. The plan and the log must outlive the simulation.
  Simulation(boost::asio::io_context& io, const SimulationSettings& settings,
             const std::vector<std::string>& host_urls, FaultPlan& plan, EventLog& log);

  Network& network() { return *network_; }
  MessageLog& relay() { return relay_; }
  /// Returns null if there is no second relay.
  MessageLog* second_relay() { return second_relay_ ? &*second_relay_ : nullptr; }
  MessageLog& host(std::size_t index) { return *hosts_[index]; }

  /// Sets the function that receives each message of a host after the message was published.
  void on_message(std::function<void(std::size_t host, const Message& message)> hear) {
    hear_ = std::move(hear);
  }
  /// Sets the function that carries out the faults of Tap. Without this function there is no Tap.
  void on_tap_fault(std::function<bool(const Fault&)> inject) { inject_tap_ = std::move(inject); }
  /// Sets the function that drops the relay's connections when the relay has renumbered its
  /// messages.
  void on_restart(std::function<void()> drop) { drop_connections_ = std::move(drop); }

  void start();
  /// Stops the simulation, which cannot be started again.
  void stop();
  void pause() { paused_ = true; }
  void resume() { paused_ = false; }

  /// Makes this number of steps at once, even while the simulation is paused or has ended. Returns
  /// the number of their events.
  std::size_t step(std::size_t count);
  /// Causes an incident (see Network::cause).
  std::optional<std::size_t> cause(std::string_view incident);
  /// Carries out a fault of the stream, of Tap or of the labeler. Returns false if the material for
  /// the fault is missing.
  bool inject(const Fault& fault);

  /// Returns the system's time, made monotonic.
  Timestamp real_time();

  double rate() const { return settings_.rate; }
  /// Returns the number of events per second, over about the last second.
  double measured_rate() const { return measured_rate_; }
  std::uint64_t events() const { return events_; }
  bool paused() const { return paused_; }
  bool quiet() const { return settings_.events > 0 && events_ >= settings_.events; }

 private:
  using SteadyClock = std::chrono::steady_clock;

  void tick();
  void wait(SteadyClock::time_point now);
  void step_once();
  void inject_planned(SteadyClock::time_point now);
  void measure(SteadyClock::time_point now);
  void publish(std::size_t host, const std::shared_ptr<const Message>& message);

  const SimulationSettings settings_;
  FaultPlan& plan_;
  EventLog& log_;
  MessageLog relay_;
  std::optional<MessageLog> second_relay_;
  std::vector<std::unique_ptr<MessageLog>> hosts_;
  std::shared_ptr<const Message> newest_;
  Timestamp now_;
  std::unique_ptr<Network> network_;
  std::function<void(std::size_t, const Message&)> hear_;
  std::function<bool(const Fault&)> inject_tap_;
  std::function<void()> drop_connections_;

  boost::asio::steady_timer timer_;
  bool stopped_ = false;
  bool paused_ = false;
  bool quiet_told_ = false;
  std::uint64_t events_ = 0;
  /// The number of events that may be made now.
  double credit_ = 0;
  SteadyClock::time_point last_tick_;
  SteadyClock::time_point measured_at_;
  std::uint64_t measured_events_ = 0;
  double measured_rate_ = 0;
};

}  // namespace skua::sim
