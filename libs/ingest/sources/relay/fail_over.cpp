#include "sources/relay/fail_over.hpp"

#include <algorithm>
#include <utility>

#include "event/frame_decoder.hpp"
#include "transport/stream_client.hpp"

namespace skua::sources {

namespace {

transport::StreamClientOptions options_of(transport::Endpoint relay, const std::string& ca_file,
                                          std::chrono::milliseconds patience) {
  auto options = transport::relay_stream(std::move(relay), [] { return std::nullopt; });
  options.ca_file = ca_file;
  options.connect_timeout = patience;
  options.close_timeout = std::chrono::milliseconds(500);
  // A probe makes one attempt. The next attempt is another probe.
  options.reconnect.first = options.reconnect.longest = std::chrono::hours(1);
  options.random = [] { return 0.9; };
  return options;
}

}  // namespace

RelayProbe::RelayProbe(transport::Endpoint relay, const std::string& ca_file,
                       std::chrono::milliseconds patience)
    : begun_at_(std::chrono::steady_clock::now()),
      patience_(patience),
      client_(options_of(std::move(relay), ca_file, patience), *this) {
  client_.start();
}

std::optional<RelayProbe::Answer> RelayProbe::answer() const {
  const std::scoped_lock lock(mutex_);
  if (!answer_ && std::chrono::steady_clock::now() - begun_at_ >= patience_) return Answer{};
  return answer_;
}

bool RelayProbe::try_accept(transport::RawFrame& frame) {
  const auto peek = event::peek_frame(frame.bytes);
  if (peek.has_error() || peek->seq == 0) return true;
  const std::scoped_lock lock(mutex_);
  if (!answer_) answer_ = Answer{peek->seq};
  return true;
}

std::optional<std::string> RelayProbe::wants_end() {
  const std::scoped_lock lock(mutex_);
  return answer_ ? std::optional<std::string>("the probe is over") : std::nullopt;
}

void RelayProbe::on_disconnected(const transport::Disconnection& /*end*/) {
  const std::scoped_lock lock(mutex_);
  if (!answer_) answer_ = Answer{};
}

FailOver::FailOver(const Options& options, std::size_t relays, TimePoint now)
    : options_(options), others_(relays), reached_at_(now), heard_at_(now) {}

void FailOver::connection(bool stands, TimePoint now) {
  // A connection that has just ended was open until now, so the time counts from now.
  if (stands || connected_) reached_at_ = now;
  connected_ = stands;
}

std::optional<FailOver::TimePoint> FailOver::trouble_since(TimePoint now) const {
  // Trouble begins at half of the limit, so that the other relays are probed before the switch.
  if (!connected_ && now - reached_at_ >= options_.gone_after / 2) return reached_at_;
  if (now - heard_at_ >= options_.silent_after / 2) return heard_at_;
  return std::nullopt;
}

bool FailOver::is_unreachable(TimePoint now) const {
  return !connected_ && now - reached_at_ >= options_.gone_after;
}

bool FailOver::is_silent(TimePoint now) const {
  return now - heard_at_ >= options_.silent_after;
}

bool FailOver::wants_probe(std::size_t relay, TimePoint now) const {
  const Other& other = others_[relay];
  if (relay == active_ || other.is_asked) return false;
  if (!other.asked_at) return true;
  const auto trouble = trouble_since(now);
  // A relay whose probe has succeeded since the beginning of the trouble is probed again, too,
  // because it must work at the time of the switch.
  const Duration interval = trouble ? std::min(options_.urgent_interval, options_.probe_interval)
                                    : options_.probe_interval;
  return now - *other.asked_at >= interval;
}

void FailOver::probe_begins(std::size_t relay, TimePoint now) {
  others_[relay].asked_at = now;
  others_[relay].is_asked = true;
}

void FailOver::probe_ended(std::size_t relay, bool went_well) {
  Other& other = others_[relay];
  other.is_asked = false;
  if (!went_well) {
    other.well_since.reset();
    other.well_at.reset();
    other.well_before.reset();
    return;
  }
  if (!other.well_since) other.well_since = other.asked_at;
  other.well_before = std::exchange(other.well_at, other.asked_at);
}

std::optional<std::size_t> FailOver::decide(TimePoint now) const {
  const bool unreachable = is_unreachable(now);
  if (unreachable || is_silent(now)) {
    const TimePoint since = trouble_since(now).value_or(now);
    for (std::size_t i = 0; i < others_.size(); ++i) {
      const Other& other = others_[i];
      if (i == active_) continue;
      // In a network with few events, all relays may be silent and then send the next event one
      // after the other. Therefore another relay must send two frames while the active one sends
      // none.
      const auto& well = unreachable ? other.well_at : other.well_before;
      if (well && *well >= since) return i;
    }
    return std::nullopt;
  }
  for (std::size_t i = 0; i < active_; ++i) {
    const Other& other = others_[i];
    // A probe that takes long may be about to fail, so the last success must be recent.
    if (other.well_since && now - *other.well_since >= options_.back_after &&
        now - *other.well_at < 2 * options_.probe_interval) {
      return i;
    }
  }
  return std::nullopt;
}

void FailOver::switched(std::size_t relay, TimePoint now) {
  // The former relay needs new probes, because no probe has reported its current state.
  others_[active_] = Other{};
  others_[active_].asked_at = now;
  others_[relay] = Other{};
  active_ = relay;
  connected_ = false;
  reached_at_ = now;
  heard_at_ = now;
}

}  // namespace skua::sources
