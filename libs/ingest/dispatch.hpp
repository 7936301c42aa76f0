#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "event/unresolved_event.hpp"
#include "filter/current_filter.hpp"
#include "ingest/intake_counters.hpp"
#include "writer/in_flight.hpp"

namespace skua::ingest {

/// Where decoders of every kind put what they have: the last step before the workers. Outlives
/// them.
struct DispatchServices {
  IntakeCounters& intake;
  writer::InFlightList& in_flight;
  /// Where events go: never waits, an account's from one thread.
  std::function<void(event::UnresolvedEvent)> sink;
  const Clock& clock;
  /// Null: everything passes. Read once a message.
  const filter::CurrentFilter* filter = nullptr;
  /// Called on a decoder's thread, at most once, when going on would be wrong: the thread ends.
  std::function<void(const std::string& what)> on_defect = nullptr;

  filter::CurrentFilter::Snapshot filter_now() const {
    return filter != nullptr ? filter->get() : nullptr;
  }
};

/// Whether a message about this account is of no interest; then it has finished, and is counted.
/// `filter` may be null.
bool leave_out(const DispatchServices& services, const filter::CurrentFilter::Snapshot& filter,
               writer::InFlightList::Ticket ticket, std::string_view did);

/// Hands a message's events to the workers, but for records that the filter leaves out; none: it
/// has finished. `time` is when its host made it. `filter` may be null.
void dispatch(const DispatchServices& services, const filter::CurrentFilter::Snapshot& filter,
              writer::InFlightList::Ticket ticket, std::vector<event::UnresolvedEvent>& events,
              Timestamp time);

/// Makes a dead letter of a message that cannot be read as a whole.
void reject_message(const DispatchServices& services, writer::InFlightList::Ticket ticket,
                    std::string_view did, std::int64_t seq, const std::string& error,
                    Bytes message);

/// Moves the newest time that was seen, unless a host's clock is wrong.
void note_time(IntakeCounters& intake, Timestamp time, Timestamp now);

}  // namespace skua::ingest
