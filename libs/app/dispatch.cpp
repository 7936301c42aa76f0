#include "app/dispatch.hpp"

#include <algorithm>
#include <utility>

#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::app {
namespace {

/// The newest word about an account counts: no host may give its own a time that nothing that comes
/// later could beat.
void bound_time(event::UnresolvedEvent& event, Timestamp now) {
  if (auto* identity = std::get_if<event::IdentityChange>(&event.body)) {
    identity->time = std::min(identity->time, now);
  } else if (auto* account = std::get_if<event::AccountChange>(&event.body)) {
    account->time = std::min(account->time, now);
  }
}

}  // namespace

void dispatch(const DispatchServices& services, writer::InFlightList::Ticket ticket,
              std::vector<event::UnresolvedEvent>& events, Timestamp time) {
  crash_point("decoded");
  services.in_flight.decoded(ticket, events.size(), time);
  for (event::UnresolvedEvent& event : events) {
    bound_time(event, services.clock.now());
    if (const auto* rejection = std::get_if<event::Rejection>(&event.body)) {
      services.intake.bad_ops += 1;
      logger("intake")->warn("did={} seq={} {}: dead-lettered: {}", event.did, event.seq,
                             rejection->what, rejection->error);
    }
    event.ticket = ticket;
    services.sink(std::move(event));
  }
}

void reject_message(const DispatchServices& services, writer::InFlightList::Ticket ticket,
                    std::string_view did, std::int64_t seq, const std::string& error,
                    Bytes message) {
  services.intake.bad_frames += 1;
  event::UnresolvedEvent event;
  event.did = std::string(did);
  logger("intake")->warn("did={} seq={}: dead-lettered whole: {}", event.did, seq, error);
  event.type = event::RecordType::Metadata;
  event.seq = seq;
  event.ticket = ticket;
  event.body = event::Rejection{"frame", error, std::move(message)};
  services.in_flight.decoded(ticket, 1, Timestamp{});
  services.sink(std::move(event));
}

void note_time(IntakeCounters& intake, Timestamp time, Timestamp now) {
  // A host whose clock is wrong must not tell how far behind we are.
  if (time > now + verify::kFuture) return;
  const std::int64_t count = time.time_since_epoch().count();
  std::int64_t newest = intake.newest_time_us.load(std::memory_order_relaxed);
  while (count > newest && !intake.newest_time_us.compare_exchange_weak(newest, count)) {
  }
}

}  // namespace skua::app
