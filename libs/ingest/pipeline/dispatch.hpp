#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/account_group.hpp"
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

/// The parts with which every decoder passes events to the workers. They outlive the decoders.
struct DispatchServices {
  postgres::Runtime& runtime;
  IntakeCounters& intake;
  InFlightList& in_flight;
  /// Passes an event to its worker. It never waits. All events of one account must come from one
  /// thread.
  std::function<void(event::UnresolvedEvent)> sink;
  /// The groups of accounts that the database owns. The pipeline drops the messages of other
  /// accounts; a decoder drops the parts of other accounts in messages that name no account.
  atproto::GroupSet groups = {};
  /// The filter, which is read once for each message. If it is null, everything passes.
  const filter::CurrentFilter* filter = nullptr;
  /// If it is null, no collection is a signal collection.
  SignalAccounts* signals = nullptr;
  /// Takes the repositories of which something is missing. If it is null, no repository is
  /// downloaded again.
  PendingHeads* gaps = nullptr;

  Timestamp now() const { return runtime.clocks.latest.now(); }
  filter::CurrentFilter::Snapshot filter_now() const {
    return filter != nullptr ? filter->get() : nullptr;
  }
};

/// Returns whether the filter excludes this account, so that its message must be left out. `filter`
/// may be null.
bool is_left_out(const filter::CurrentFilter::Snapshot& filter, std::string_view did);

/// Returns whether the filter excludes an event: a record, or an operation on a record that cannot
/// be read. The update of a record passes at any age, because the record may already have a row.
bool is_outside(const tables::Filter& filter, const event::UnresolvedEvent& event, Timestamp now);

/// Returns whether a message that is left out must be decoded nevertheless, because it may contain
/// a record of a signal collection.
bool may_signal(const DispatchServices& services, const tables::Filter& filter,
                std::string_view did, ByteView message);

/// Finishes and counts a message that is left out. `events` are its events, if it was decoded.
void leave_out(const DispatchServices& services, InFlightList::Ticket ticket,
               std::span<const event::UnresolvedEvent> events);

/// Passes the events of a message to the workers, without the records that the filter excludes. A
/// message without events is finished. `time` is the time at which the host made the message.
/// `filter` may be null.
void dispatch(const DispatchServices& services, const filter::CurrentFilter::Snapshot& filter,
              InFlightList::Ticket ticket, std::vector<event::UnresolvedEvent>& events,
              Timestamp time);

/// Stores a message that cannot be read as a dead letter.
void reject_message(const DispatchServices& services, InFlightList::Ticket ticket,
                    std::string_view did, std::int64_t seq, const std::string& error,
                    Bytes message);

/// Stores the beginning of a message with a defect as a dead letter, and marks the gap.
/// MessageReader describes `has_stable_seq`.
void reject_defect(const DispatchServices& services, const AdmittedMessage& message,
                   bool has_stable_seq = true);

/// Makes the repository of the message's account wait for a resync, if the message names an
/// account. Call it before the message is finished.
void mark_gap(const DispatchServices& services, const AdmittedMessage& message);

/// Advances the newest event time, unless the time is in the future, because a host's clock may be
/// wrong.
void note_time(IntakeCounters& intake, Timestamp time, Timestamp now);

}  // namespace skua::pipeline
