#include "tap_host.hpp"

#include <utility>

namespace skua::sim {
namespace {

/// While the outbox has more events than this, no repository is read.
constexpr std::size_t kOutboxRoom = 100'000;
/// The time limit for one round of reading, so that connections are served.
constexpr auto kResyncTurn = std::chrono::milliseconds(5);
constexpr auto kBetweenTurns = std::chrono::milliseconds(1);
constexpr auto kIdle = std::chrono::milliseconds(10);

}  // namespace

TapHost::TapHost(boost::asio::io_context& io, const Network& network, const TapOptions& options,
                 SessionHost sessions)
    : outbox_(options.retry_after),
      tracker_(network, outbox_, options.full_network),
      retry_after_(options.retry_after),
      sessions_(std::move(sessions)),
      reading_(io),
      retries_(io) {}

void TapHost::start() {
  read_repositories();
  retry();
}

void TapHost::stop() {
  stopped_ = true;
  reading_.cancel();
  retries_.cancel();
}

void TapHost::read_repositories() {
  const auto began = Clock::now();
  const auto has_work = [this] {
    return tracker_.has_resyncs() && outbox_.unacked() < kOutboxRoom;
  };
  while (has_work() && Clock::now() - began < kResyncTurn) tracker_.resync_next(began);
  wake_clients();
  reading_.expires_after(has_work() ? kBetweenTurns : kIdle);
  reading_.async_wait([this](boost::system::error_code error) {
    if (!error && !stopped_) read_repositories();
  });
}

void TapHost::retry() {
  outbox_.retry(Clock::now());
  wake_clients();
  retries_.expires_after(retry_after_);
  retries_.async_wait([this](boost::system::error_code error) {
    if (!error && !stopped_) retry();
  });
}

void TapHost::hear(std::size_t host, const Message& message) {
  tracker_.hear(host, message, Clock::now());
  wake_clients();
}

void TapHost::ack(std::uint64_t id) {
  outbox_.ack(id, Clock::now());
  wake_clients();
}

void TapHost::restart(TapOutbox::End end) {
  if (drop_connections_) drop_connections_();
  outbox_.restart(end, Clock::now());
}

bool TapHost::inject(const Fault& fault) {
  const auto now = Clock::now();
  bool done = true;
  switch (fault.kind) {
    case FaultKind::tap_restart:
      restart(TapOutbox::End::clean);
      break;
    case FaultKind::tap_crash:
      restart(TapOutbox::End::crash);
      break;
    case FaultKind::tap_renumber:
      restart(TapOutbox::End::renumber);
      break;
    case FaultKind::tap_lose:
      tracker_.lose_commits(static_cast<std::size_t>(fault.number));
      break;
    case FaultKind::tap_unknown:
      done = tracker_.say_unknown(now);
      break;
    case FaultKind::tap_poison:
      done = tracker_.say_poison(now);
      break;
    case FaultKind::tap_no_record:
      done = tracker_.say_no_record(now);
      break;
    case FaultKind::tap_repeat:
      outbox_.repeat_next();
      break;
    default:
      return false;
  }
  wake_clients();
  return done;
}

nlohmann::ordered_json TapHost::metrics() const {
  const auto& counts = outbox_.counts();
  return {{"unacked", outbox_.unacked()},
          {"in_flight", outbox_.in_flight()},
          {"waiting", outbox_.unacked() - outbox_.in_flight()},
          {"last_id", outbox_.last_id()},
          {"added", counts.added},
          {"sent", counts.sent},
          {"redelivered", counts.redelivered},
          {"acked", counts.acked},
          {"acked_unknown", counts.acked_unknown},
          {"acked_unsent", counts.acked_unsent},
          {"restarts", counts.restarts},
          {"repos", tracker_.repos()},
          {"resyncs", tracker_.resyncs()},
          {"clients", clients_.size()}};
}

void TapHost::wake_clients() {
  if (!outbox_.has_next()) return;
  for (const auto& [number, wake] : clients_) wake();
}

}  // namespace skua::sim
