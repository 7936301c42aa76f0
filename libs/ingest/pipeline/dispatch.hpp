#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "event/unresolved_event.hpp"
#include "filter/filter_watch.hpp"
#include "pipeline/admitted_message.hpp"
#include "pipeline/in_flight.hpp"
#include "pipeline/intake_counters.hpp"
#include "pipeline/pending_heads.hpp"
#include "pipeline/signal_accounts.hpp"
#include "postgres/runtime.hpp"

namespace skua::pipeline {

/// What every decoder needs to pass events to the workers. Outlives the decoders.
struct DispatchServices {
  postgres::Runtime& runtime;
  IntakeCounters& intake;
  InFlightList& in_flight;
  /// Takes events. Never waits. The events of one account come from one thread.
  std::function<void(event::UnresolvedEvent)> sink;
  /// Null: everything passes. Read once for each message.
  const filter::CurrentFilter* filter = nullptr;
  /// Null: no collection is a signal.
  SignalAccounts* signals = nullptr;
  /// Takes the repositories of which something is missing; null: none is downloaded again.
  PendingHeads* gaps = nullptr;

  Timestamp now() const { return runtime.clocks.latest.now(); }
  filter::CurrentFilter::Snapshot filter_now() const {
    return filter != nullptr ? filter->get() : nullptr;
  }
};

/// True: the filter excludes this account, and its message is to be left out. `filter` may be null.
bool is_left_out(const filter::CurrentFilter::Snapshot& filter, std::string_view did);

/// Whether the filter excludes an event: a record, or an operation on a record that cannot be read.
/// The update of a record passes at any age, because a row of it may exist.
bool is_outside(const tables::Filter& filter, const event::UnresolvedEvent& event, Timestamp now);

/// Whether a message that is left out must be decoded all the same, because its account may show up
/// in a signal collection with it.
bool may_signal(const DispatchServices& services, const tables::Filter& filter,
                std::string_view did, ByteView message);

/// Finishes and counts a message that is left out. `events`: its events, if it was decoded.
void leave_out(const DispatchServices& services, InFlightList::Ticket ticket,
               std::span<const event::UnresolvedEvent> events);

/// Passes the events of a message to the workers, without the records that the filter excludes. A
/// message without events is finished. `time` is when the host made it. `filter` may be null.
void dispatch(const DispatchServices& services, const filter::CurrentFilter::Snapshot& filter,
              InFlightList::Ticket ticket, std::vector<event::UnresolvedEvent>& events,
              Timestamp time);

/// Stores a message that cannot be read as a dead letter.
void reject_message(const DispatchServices& services, InFlightList::Ticket ticket,
                    std::string_view did, std::int64_t seq, const std::string& error,
                    Bytes message);

/// Stores the beginning of a message with a defect as a dead letter, and marks the gap.
/// `has_stable_seq`: see MessageReader.
void reject_defect(const DispatchServices& services, const AdmittedMessage& message,
                   bool has_stable_seq = true);

/// The repository of the message's account waits for a resync, if it names one. Before the message
/// is finished.
void mark_gap(const DispatchServices& services, const AdmittedMessage& message);

/// Advances the newest event time, unless the time is in the future: a host's clock may be wrong.
void note_time(IntakeCounters& intake, Timestamp time, Timestamp now);

}  // namespace skua::pipeline
