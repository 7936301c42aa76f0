#include "pipeline/dispatch.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "atproto/syntax.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::pipeline {
namespace {

/// The number of bytes of a message with a defect that are stored.
constexpr std::size_t kKeptOfDefect = std::size_t{64} << 10;

/// Limits the time of a message about an account. The newest message counts, so a message with a
/// time in the future would win against all later messages.
void bound_time(event::UnresolvedEvent& event, Timestamp now) {
  if (auto* identity = std::get_if<event::IdentityChange>(&event.body)) {
    identity->time = std::min(identity->time, now);
  } else if (auto* account = std::get_if<event::AccountChange>(&event.body)) {
    account->time = std::min(account->time, now);
  }
}

/// Returns the number of the record's collection, or 0 for a collection without a struct.
std::size_t collection_id(const event::RecordChange& change) {
  const std::size_t decoded = change.record.record.index();
  if (decoded != 0) return decoded;
  return static_cast<std::size_t>(records::typed_collection_id(change.collection));
}

}  // namespace

bool is_outside(const tables::Filter& filter, const event::UnresolvedEvent& event, Timestamp now) {
  if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
    return !filter.passes_collection(change->collection) ||
           (change->operation == event::Operation::Create &&
            filter.is_expired(change->collection, records::created_at(change->record.record), now));
  }
  const auto* rejection = std::get_if<event::Rejection>(&event.body);
  if (rejection == nullptr) return false;
  // A rejection without a collection, such as the rejection of a whole frame, concerns all
  // collections.
  const std::string_view collection =
      std::string_view(rejection->what).substr(0, rejection->what.find('/'));
  return collection.size() < rejection->what.size() && atproto::is_nsid(collection) &&
         !filter.passes_collection(collection);
}

bool is_left_out(const filter::CurrentFilter::Snapshot& filter, std::string_view did) {
  return filter && !did.empty() && !filter->passes_did(did);
}

bool may_signal(const DispatchServices& services, const tables::Filter& filter,
                std::string_view did, ByteView message) {
  return services.signals != nullptr && !filter.excludes(did) &&
         services.signals->may_be_in(message);
}

void leave_out(const DispatchServices& services, InFlightList::Ticket ticket,
               std::span<const event::UnresolvedEvent> events) {
  if (services.signals != nullptr) services.signals->look_at(events);
  services.intake.filtered_messages += 1;
  services.in_flight.decoded(ticket, 0, Timestamp{});
}

void dispatch(const DispatchServices& services, const filter::CurrentFilter::Snapshot& filter,
              InFlightList::Ticket ticket, std::vector<event::UnresolvedEvent>& events,
              Timestamp time) {
  crash_point("decoded");
  if (services.signals != nullptr) services.signals->look_at(events);
  const Timestamp now = services.now();
  if (filter && !filter->passes_all_records()) {
    services.intake.filtered +=
        std::erase_if(events, [&](const auto& event) { return is_outside(*filter, event, now); });
  }
  const Timestamp received_at = services.in_flight.decoded(ticket, events.size(), time);
  services.intake.dispatch_latency.add(now - received_at);
  for (event::UnresolvedEvent& event : events) {
    bound_time(event, now);
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
      services.intake.collections.at(collection_id(*change)) += 1;
    }
    if (const auto* rejection = std::get_if<event::Rejection>(&event.body)) {
      services.intake.bad_ops += 1;
      logger("intake")->warn("did={} seq={} {}: dead-lettered: {}", event.did, event.seq,
                             rejection->what, rejection->error);
    }
    event.ticket = ticket;
    services.sink(std::move(event));
  }
}

void reject_message(const DispatchServices& services, InFlightList::Ticket ticket,
                    std::string_view did, std::int64_t seq, const std::string& error,
                    Bytes message) {
  services.intake.bad_frames += 1;
  event::UnresolvedEvent event;
  event.did = std::string(did);
  logger("intake")->warn("did={} seq={}: the frame is dead-lettered: {}", event.did, seq, error);
  event.type = event::RecordType::Metadata;
  event.seq = seq;
  event.ticket = ticket;
  event.body = event::Rejection{"frame", error, std::move(message)};
  services.in_flight.decoded(ticket, 1, Timestamp{});
  services.sink(std::move(event));
}

void reject_defect(const DispatchServices& services, const AdmittedMessage& message,
                   bool has_stable_seq) {
  mark_gap(services, message);
  const std::size_t size = std::min(message.bytes.size(), kKeptOfDefect);
  const auto begin = message.bytes.begin();
  reject_message(services, message.ticket, message.did, has_stable_seq ? message.seq : 0,
                 message.defect.message(), Bytes(begin, begin + static_cast<std::ptrdiff_t>(size)));
}

void mark_gap(const DispatchServices& services, const AdmittedMessage& message) {
  if (services.gaps == nullptr || message.did.empty()) return;
  services.gaps->add_gap(message.ticket, {std::string(message.did)});
}

void note_time(IntakeCounters& intake, Timestamp time, Timestamp now) {
  // A host with a wrong clock must not change the lag.
  if (time > now + verify::kFuture) return;
  const std::int64_t count = time.time_since_epoch().count();
  std::int64_t newest = intake.newest_time_us.load(std::memory_order_relaxed);
  while (count > newest && !intake.newest_time_us.compare_exchange_weak(newest, count)) {
  }
}

}  // namespace skua::pipeline
