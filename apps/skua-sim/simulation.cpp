#include "simulation.hpp"

#include <algorithm>
#include <utility>

#include "world/labeler.hpp"

namespace skua::sim {
namespace {

/// The time limit for one round of the simulation, so that connections and requests are served
/// between rounds.
constexpr auto kActTurn = std::chrono::milliseconds(5);
constexpr auto kShortestWait = std::chrono::milliseconds(1);
/// The maximum delay of a fault that was planned for a time.
constexpr auto kLongestWait = std::chrono::milliseconds(20);
constexpr auto kMeasured = std::chrono::seconds(1);
/// The first number of the second relay, which differs from those of the first relay.
constexpr std::int64_t kSecondFirst = 1'000;
constexpr std::int64_t kSecondStride = 3;

}  // namespace

Simulation::Simulation(boost::asio::io_context& io, const SimulationSettings& settings,
                       const std::vector<std::string>& host_urls, FaultPlan& plan, EventLog& log)
    : settings_(settings),
      plan_(plan),
      log_(log),
      relay_(settings.window_bytes, settings.first_seq),
      timer_(io) {
  if (settings_.second_relay) {
    second_relay_.emplace(settings_.window_bytes, kSecondFirst, kSecondStride);
  }
  for (std::size_t i = 0; i < host_urls.size(); ++i) {
    hosts_.push_back(std::make_unique<MessageLog>(settings.window_bytes / host_urls.size()));
  }
  network_ = std::make_unique<Network>(
      settings.network, host_urls, real_time(),
      [this](std::size_t host, const std::shared_ptr<const Message>& message) {
        publish(host, message);
      });
}

void Simulation::start() {
  last_tick_ = measured_at_ = SteadyClock::now();
  wait(last_tick_);
}

void Simulation::stop() {
  stopped_ = true;
  timer_.cancel();
}

std::size_t Simulation::step(std::size_t count) {
  const auto before = events_;
  for (std::size_t i = 0; i < count; ++i) step_once();
  return events_ - before;
}

std::optional<std::size_t> Simulation::cause(std::string_view incident) {
  const auto events = network_->cause(incident, real_time());
  events_ += events.value_or(0);
  return events;
}

bool Simulation::inject(const Fault& fault) {
  nlohmann::ordered_json line = {{"event", "fault"}, {"fault", fault_name(fault.kind)}};
  if (const auto hostility = fault_hostility(fault.kind)) {
    if (!network_->provoke(*hostility, real_time())) return false;
  } else if (fault.kind == FaultKind::silent_account) {
    const auto bytes = static_cast<std::size_t>(fault.number) * 1000;
    if (!network_->provoke_as(settings_.silent_did, bytes, real_time())) return false;
  } else if (is_tap_fault(fault.kind)) {
    if (!inject_tap_ || !inject_tap_(fault)) return false;
  } else if (fault.kind == FaultKind::label_repeat) {
    auto* const labeler = network_->labeler();
    if (labeler == nullptr || !labeler->repeat()) return false;
  } else if (fault.kind == FaultKind::repeated_seq) {
    if (!newest_ || !relay_.last_seq()) return false;
    relay_.publish_with_last_seq(newest_);
  } else if (fault.kind == FaultKind::missing_seq) {
    relay_.skip_numbers(fault.number);
    line["count"] = fault.number;
  } else if (fault.kind == FaultKind::seq_restart) {
    // The connections are dropped before the renumbering, so that no connection sees decreasing
    // numbers.
    if (drop_connections_) drop_connections_();
    line["renumbered"] = nlohmann::ordered_json::array();
    for (const auto& run : relay_.restart_numbers()) {
      line["renumbered"].push_back({run.old_first, run.new_first, run.count});
    }
  }
  line["frame"] = relay_.end();
  if (const auto seq = relay_.last_seq()) line["seq"] = *seq;
  log_.write(line);
  return true;
}

void Simulation::tick() {
  const auto now = SteadyClock::now();
  inject_planned(now);
  const std::chrono::duration<double> passed = now - last_tick_;
  last_tick_ = now;
  if (paused_ || quiet()) {
    credit_ = 0;
  } else {
    credit_ = std::min(credit_ + settings_.rate * passed.count(), std::max(settings_.rate, 1.0));
    while (credit_ >= 1 && !quiet() && SteadyClock::now() - now < kActTurn) {
      const auto before = events_;
      step_once();
      credit_ -= static_cast<double>(events_ - before);
      inject_planned(now);
    }
  }
  if (quiet() && !std::exchange(quiet_told_, true)) {
    log_.write({{"event", "quiet"},
                {"events", events_},
                {"frames", relay_.end()},
                {"seq", relay_.last_seq().value_or(0)}});
  }
  measure(now);
  wait(now);
}

void Simulation::wait(SteadyClock::time_point now) {
  if (stopped_) return;
  const std::chrono::duration<double> until_next((1 - credit_) / settings_.rate);
  const auto longest = std::chrono::duration<double>(kLongestWait);
  const auto shortest = std::chrono::duration<double>(kShortestWait);
  // If the simulation is behind schedule, it continues at once, but after other handlers.
  const auto pause =
      credit_ >= 1 ? std::chrono::duration<double>(0) : std::clamp(until_next, shortest, longest);
  timer_.expires_at(now + std::chrono::duration_cast<SteadyClock::duration>(pause));
  timer_.async_wait([this](boost::system::error_code error) {
    if (!error && !stopped_) tick();
  });
}

void Simulation::step_once() {
  events_ += network_->step(real_time());
}

/// Carries out the due faults of the stream. A fault that cannot be carried out yet is postponed.
void Simulation::inject_planned(SteadyClock::time_point now) {
  const bool by_chance = !paused_ && !quiet();
  for (const auto& fault : plan_.take_for_stream(relay_.end(), relay_.last_seq(), now, by_chance)) {
    if (!inject(fault)) plan_.postpone(fault);
  }
}

void Simulation::measure(SteadyClock::time_point now) {
  const std::chrono::duration<double> passed = now - measured_at_;
  if (passed < kMeasured) return;
  measured_rate_ = static_cast<double>(events_ - measured_events_) / passed.count();
  measured_events_ = events_;
  measured_at_ = now;
}

void Simulation::publish(std::size_t host, const std::shared_ptr<const Message>& message) {
  hosts_.at(host)->publish(message);
  relay_.publish(message);
  if (second_relay_) second_relay_->publish(message);
  newest_ = message;
  if (hear_) hear_(host, *message);
}

Timestamp Simulation::real_time() {
  now_ = std::max(now_, system_clock().now());
  return now_;
}

}  // namespace skua::sim
