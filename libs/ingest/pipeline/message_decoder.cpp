#include "pipeline/message_decoder.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "base/log.hpp"
#include "pipeline/decode_guard.hpp"
#include "verify/commit_verifier.hpp"
#include "verify/errc.hpp"

namespace skua::pipeline {
namespace {

bool is_of_the_future(const event::UnresolvedEvent& event, Timestamp time, Timestamp now) {
  const auto* change = std::get_if<event::RecordChange>(&event.body);
  return change != nullptr && verify::is_of_the_future(change->rev, time, now);
}

}  // namespace

MessageDecoder::MessageDecoder(std::unique_ptr<MessageReader> reader, DispatchServices services)
    : reader_(std::move(reader)),
      services_(std::move(services)),
      gate_(services_.runtime.clocks.latest, services_.intake) {}

bool MessageDecoder::tick() {
  if (gate_.empty()) return false;
  for (AdmittedMessage& message : gate_.release(FutureGate::SteadyTime::clock::now())) {
    guard_message(services_, message, [&] { take(message, Gate::Behind); });
  }
  return !gate_.empty();
}

void MessageDecoder::take(AdmittedMessage& message, Gate gate) {
  filter_ = services_.filter_now();
  if (is_left_out(filter_, message.did)) {
    leave_out(message);
  } else {
    read(message, gate);
  }
}

void MessageDecoder::leave_out(const AdmittedMessage& message) {
  std::span<const event::UnresolvedEvent> events;
  if (may_signal(services_, *filter_, message.did, message.bytes)) {
    if (const auto read = reader_->read(message)) events = *read->events;
  }
  pipeline::leave_out(services_, message.ticket, events);
}

void MessageDecoder::read(AdmittedMessage& message, Gate gate) {
  if (message.defect) {
    reject_defect(services_, message, reader_->has_stable_seq());
    return;
  }
  const auto read = reader_->read(message);
  if (!read) {
    reject_message(services_, message.ticket, message.did,
                   reader_->has_stable_seq() ? message.seq : 0, read.error().message(),
                   std::move(message.bytes));
    return;
  }
  if (!passes(message, *read, gate)) return;
  reader_->count(services_.intake);
  hand_on(message, *read);
}

bool MessageDecoder::passes(AdmittedMessage& message, const ReadMessage& read, Gate gate) {
  if (gate == Gate::Behind) return true;
  MessageDates dates{std::nullopt, read.stated_at};
  for (const event::UnresolvedEvent& event : *read.events) {
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) dates.rev = change->rev;
  }
  return gate_.pass(message, dates, FutureGate::SteadyTime::clock::now());
}

void MessageDecoder::hand_on(const AdmittedMessage& message, const ReadMessage& read) {
  const Timestamp now = services_.now();
  for (const event::UnresolvedEvent& event : *read.events) {
    if (!is_of_the_future(event, read.stated_at, now)) continue;
    services_.intake.drop(verify::errc::future_rev);
    logger("intake")->debug("did={} seq={}: dropped: its revision lies in the future", event.did,
                            event.seq);
    services_.in_flight.decoded(message.ticket, 0, Timestamp{});
    return;
  }
  for (event::UnresolvedEvent& event : *read.events) {
    if (auto* account = std::get_if<event::AccountChange>(&event.body)) {
      account->purge = !account->active && account->status == "deleted";
    }
  }
  const auto& events = *read.events;
  const bool is_excluded = filter_ && !events.empty() &&
                           std::all_of(events.begin(), events.end(), [&](const auto& event) {
                             return is_outside(*filter_, event, now);
                           });
  if (read.gap != nullptr && !is_excluded) {
    mark_gap(services_, message);
    logger("intake")->info(
        "did={}: {}: {}", message.did, read.gap,
        services_.gaps != nullptr ? "it is downloaded again" : "run skua repo resync");
  }
  note_time(services_.intake, read.made_at, now);
  dispatch(services_, filter_, message.ticket, *read.events, read.made_at);
}

}  // namespace skua::pipeline
