#include "sources/relay/relay_group.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "base/problem.hpp"

namespace skua::sources {

namespace {

/// The maximum number of waiting positions of a relay: a day of them at one a minute. Positions
/// gather while the active relay is far behind.
constexpr std::size_t kMostWaiting = 1'440;

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
/// The minimum time between two probes of the active relay.
constexpr std::chrono::seconds kActiveInterval{5};
/// The shortest and the longest time that a probe waits for a frame.
constexpr std::chrono::milliseconds kShortestProbe{2'000};
constexpr std::chrono::milliseconds kLongestProbe{30'000};
/// The number of lower numbers in a row that prove a reset. A single lower number may be a mistake
/// of the relay.
constexpr int kLowerNumbers = 2;

}  // namespace

StandbyPositions::StandbyPositions(std::size_t relays, Duration margin)
    : margin_(margin), relays_(relays) {}

void StandbyPositions::seen(std::size_t relay, std::int64_t seq, TimePoint now) {
  Relay& one = relays_[relay];
  if (!one.oldest) one.oldest = seq;
  if (one.waiting.size() >= kMostWaiting) one.waiting.pop_back();
  one.waiting.push_back({seq, now, std::nullopt});
}

bool StandbyPositions::wants_head(TimePoint now) const {
  return std::any_of(relays_.begin(), relays_.end(), [&](const Relay& relay) {
    return std::any_of(relay.waiting.begin(), relay.waiting.end(), [&](const Position& position) {
      return !position.head && position.at + margin_ <= now;
    });
  });
}

void StandbyPositions::head(std::int64_t seq, TimePoint asked_at) {
  for (Relay& relay : relays_) {
    for (Position& position : relay.waiting) {
      if (!position.head && position.at + margin_ <= asked_at) position.head = seq;
    }
  }
}

std::optional<std::int64_t> StandbyPositions::durable(std::size_t relay, std::int64_t seq) {
  auto& waiting = relays_[relay].waiting;
  std::optional<std::int64_t> newest;
  while (!waiting.empty() && waiting.front().head && *waiting.front().head <= seq) {
    newest = waiting.front().seq;
    waiting.pop_front();
  }
  return newest;
}

std::optional<std::int64_t> StandbyPositions::oldest_seen(std::size_t relay) const {
  return relays_[relay].oldest;
}

void StandbyPositions::forget_waiting() {
  for (Relay& relay : relays_) relay.waiting.clear();
}

void StandbyPositions::forget(std::size_t relay) {
  relays_[relay].waiting.clear();
  relays_[relay].oldest.reset();
}

RelayGroup::RelayGroup(postgres::Runtime& runtime, Options options, SourceReaders& readers,
                       pipeline::Pipeline& pipeline, pipeline::CursorSaver& cursor_saver)
    : runtime_(runtime),
      options_(std::move(options)),
      readers_(readers),
      pipeline_(pipeline),
      cursor_saver_(cursor_saver),
      clock_(runtime.clocks.latest),
      fail_over_(options_.fail_over, readers.size(), SteadyClock::now()),
      positions_(readers.size(), options_.margin),
      relays_(readers.size()) {
  relays_[readers_.active()].was_read = true;
}

void RelayGroup::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void RelayGroup::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  for (Relay& relay : relays_) relay.probe.reset();
}

void RelayGroup::run(const std::stop_token& stop) {
  try {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      tick(SteadyClock::now());
      wake_.wait_for(lock, stop, kTick, [] { return false; });
    }
  } catch (const std::exception& error) {
    runtime_.fatal(std::string("fail-over: ") + error.what());
  }
}

void RelayGroup::tick(TimePoint now) {
  watch_active(now);
  confirm_positions();
  probe(now);
  if (const auto next = fail_over_.decide(now)) switch_to(*next);
}

void RelayGroup::watch_active(TimePoint now) {
  const Intake& active = readers_.intake(readers_.active());
  fail_over_.connection(active.connected(), now);
  if (active.heard() != heard_ || active.waits_for_room()) fail_over_.heard(now);
  // Frames that the active relay did not send are not durable. Its position then no longer proves
  // anything about the other relays.
  if (active.skipped() != skipped_ || active.restarts() != restarts_) positions_.forget_waiting();
  remember_counters();
}

void RelayGroup::remember_counters() {
  const Intake& active = readers_.intake(readers_.active());
  heard_ = active.heard();
  skipped_ = active.skipped();
  restarts_ = active.restarts();
}

void RelayGroup::confirm_positions() {
  const std::size_t active = readers_.active();
  const auto watermark = pipeline_.watermark(active);
  if (!watermark) return;
  for (std::size_t i = 0; i < relays_.size(); ++i) {
    if (i == active) continue;
    if (const auto seq = positions_.durable(i, watermark->seq)) {
      pipeline_.pass(i, {*seq, Timestamp{}});
      logger("relay")->debug("{} is durable up to seq {}, by {}", readers_.name(i), *seq,
                             readers_.name(active));
    }
  }
}

void RelayGroup::probe(TimePoint now) {
  for (std::size_t i = 0; i < relays_.size(); ++i) {
    auto& probe = relays_[i].probe;
    if (!probe) {
      if (!wants_probe(i, now)) continue;
      const auto patience =
          std::clamp(options_.fail_over.gone_after, kShortestProbe, kLongestProbe);
      probe =
          std::make_unique<RelayProbe>(readers_.source(i).endpoint(), options_.ca_file, patience);
    } else if (const auto answer = probe->answer()) {
      const auto begun_at = probe->begun_at();
      probe.reset();
      take_answer(i, *answer, begun_at, now);
    }
  }
}

bool RelayGroup::wants_probe(std::size_t relay, TimePoint now) {
  if (relay != readers_.active()) {
    if (!fail_over_.wants_probe(relay, now)) return false;
    fail_over_.probe_begins(relay, now);
    return true;
  }
  if (!positions_.wants_head(now) || now - asked_active_at_ < kActiveInterval) return false;
  asked_active_at_ = now;
  const auto watermark = pipeline_.watermark(relay);
  relays_[relay].watermark_then = watermark ? watermark->seq : 0;
  return true;
}

void RelayGroup::take_answer(std::size_t relay, const RelayProbe::Answer& answer,
                             TimePoint begun_at, TimePoint now) {
  if (relay == readers_.active()) {
    // After a reset of the sequence numbers the answer is below the former watermark.
    if (answer.seq && *answer.seq >= relays_[relay].watermark_then) {
      positions_.head(*answer.seq, begun_at);
    }
    return;
  }
  fail_over_.probe_ended(relay, answer.seq.has_value());
  if (!answer.seq || !check_number(relay, *answer.seq)) return;
  positions_.seen(relay, *answer.seq, now);
  if (!relays_[relay].first_seen) relays_[relay].first_seen = clock_.now();
}

bool RelayGroup::check_number(std::size_t i, std::int64_t seq) {
  Relay& relay = relays_[i];
  const auto known = known_position(i);
  if (!known || seq >= *known) {
    relay.lower_numbers = 0;
    return true;
  }
  if (++relay.lower_numbers < kLowerNumbers) return false;
  relay.lower_numbers = 0;
  relay.was_reset = true;
  logger("relay")->warn("{}: sequence reset: it is at seq {}, and {}", readers_.name(i), seq,
                        with_code(fmt::format("was at seq {}", *known), problem("sequence-reset")));
  positions_.forget(i);
  pipeline_.restart(i);
  cursor_saver_.save_soon();
  return true;
}

std::optional<std::int64_t> RelayGroup::known_position(std::size_t i) const {
  const Relay& relay = relays_[i];
  std::optional<std::int64_t> known;
  if (const auto watermark = pipeline_.watermark(i)) known = watermark->seq;
  if (relay.was_reset) return known;
  // The frames that the relay sent while it was read are durable or in flight.
  if (relay.was_read) known = std::max(known, readers_.intake(i).position());
  if (readers_.cursor(i).kind != CursorChoice::Kind::Live) {
    known = std::max(known, cursor_saver_.saved(i));
  }
  return known;
}

std::optional<std::int64_t> RelayGroup::position_to_read_from(std::size_t i) const {
  if (const auto known = known_position(i)) return known;
  const CursorChoice& choice = readers_.cursor(i);
  if (choice.kind == CursorChoice::Kind::Oldest) return 0;
  if (choice.kind == CursorChoice::Kind::Resume) return choice.seq;
  // The relay was never read, and none of its positions is known to be durable.
  const auto seen = positions_.oldest_seen(i);
  bool is_any_known = false;
  for (std::size_t other = 0; other < relays_.size() && !is_any_known; ++other) {
    is_any_known = known_position(other).has_value();
  }
  if (!is_any_known) return seen;
  const Timestamp newest{std::chrono::microseconds(pipeline_.intake().newest_time_us.load())};
  const auto first_seen = relays_[i].first_seen;
  if (seen && first_seen && newest >= *first_seen - options_.margin) {
    logger("relay")->warn(
        "{} was seen for the first time a moment ago: reading it from seq {}; events that the "
        "other relay had not sent by then are missing until a resync",
        readers_.name(i), *seen);
    return seen;
  }
  logger("relay")->warn(
      "the position in {} that corresponds to the other relay is not known: reading everything "
      "that it keeps",
      readers_.name(i));
  return 0;
}

void RelayGroup::switch_to(std::size_t next) {
  const std::size_t before = readers_.active();
  relays_[before].probe.reset();
  relays_[next].probe.reset();
  readers_.switch_to(next, [&] {
    const auto position = position_to_read_from(next);
    logger("relay")->warn("{} {}: {} takes over, {}", readers_.name(before),
                          next < before ? "is replaced" : "cannot be read", readers_.name(next),
                          position ? "after seq " + std::to_string(*position) : "live from now on");
    return position;
  });
  relays_[next].was_read = true;
  relays_[next].was_reset = false;
  fail_over_.switched(next, SteadyClock::now());
  positions_.forget_waiting();
  remember_counters();
  cursor_saver_.save_soon();
  crash_point("relay_switched");
}

}  // namespace skua::sources
