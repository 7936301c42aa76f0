#include "ingest/message_decoder.hpp"

#include <limits>
#include <utility>
#include <variant>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "ingest/decode_guard.hpp"
#include "verify/commit_verifier.hpp"
#include "verify/errc.hpp"

namespace skua::ingest {
namespace {

bool is_of_the_future(const event::UnresolvedEvent& event, Timestamp time, Timestamp now) {
  const auto* change = std::get_if<event::RecordChange>(&event.body);
  return change != nullptr && verify::is_of_the_future(change->rev, time, now);
}

}  // namespace

MessageDecoder::MessageDecoder(Format format, DispatchServices services)
    : format_(format),
      services_(std::move(services)),
      // What may be in flight at all bounds the queue.
      queue_(std::numeric_limits<std::size_t>::max()),
      gate_(services_.clock, services_.intake),
      thread_([this] { guard_thread(services_, [this] { run(); }); }) {}

MessageDecoder::~MessageDecoder() {
  close();
  join();
}

void MessageDecoder::push(AdmittedMessage message) {
  queue_.push(std::move(message));
}

void MessageDecoder::close() {
  queue_.close();
}

void MessageDecoder::join() {
  if (thread_.joinable()) thread_.join();
}

void MessageDecoder::run() {
  std::vector<AdmittedMessage> messages;
  while (next_items(queue_, !gate_.empty(), messages)) {
    for (AdmittedMessage& message : messages) take(message, Gate::Ahead);
    if (gate_.empty()) continue;
    for (AdmittedMessage& message : gate_.release(FutureGate::SteadyTime::clock::now())) {
      take(message, Gate::Behind);
    }
  }
  abandoned_ = gate_.size();
}

void MessageDecoder::take(AdmittedMessage& message, Gate gate) {
  guard_message(services_, message, true, [&] {
    filter_ = services_.filter_now();
    if (leave_out(services_, filter_, message.ticket, message.did)) return true;
    if (format_ == Format::Tap) {
      take_tap(message, gate);
    } else {
      take_jetstream(message, gate);
    }
    return true;
  });
}

bool MessageDecoder::passes(AdmittedMessage& message,
                            const std::vector<event::UnresolvedEvent>& events, Timestamp time,
                            Gate gate) {
  if (gate == Gate::Behind) return true;
  MessageDates dates{std::nullopt, time};
  for (const event::UnresolvedEvent& event : events) {
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) dates.rev = change->rev;
  }
  return gate_.pass(message, dates, FutureGate::SteadyTime::clock::now());
}

void MessageDecoder::take_tap(AdmittedMessage& message, Gate gate) {
  const auto decoded = tap_decoder_.decode(as_text(message.bytes), message.received_at, tap_);
  if (!decoded) {
    // Its number is not part of it: the same message comes again under another.
    reject_message(services_, message.ticket, message.did, 0, decoded.error().message(),
                   std::move(message.bytes));
    return;
  }
  // Tap does not say when a message was made.
  if (!passes(message, tap_.events, Timestamp{}, gate)) return;
  Timestamp time{};
  switch (tap_.type) {
    case event::TapType::Record:
      services_.intake.commits += 1;
      services_.intake.ops += 1;
      if (!tap_.cid_matches) services_.intake.altered += 1;
      break;
    case event::TapType::Identity:
      services_.intake.identities += 1;
      services_.intake.accounts += 1;
      break;
    case event::TapType::Unknown:
      services_.intake.unknown += 1;
      break;
  }
  for (event::UnresolvedEvent& event : tap_.events) {
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
      // Tombstones are kept until the cursor has passed it.
      event.seq = message.seq;
      if (event.source == event::EventSource::Live) time = change->rev.time();
    }
  }
  hand_on(message, tap_.events, Timestamp{}, time);
}

void MessageDecoder::take_jetstream(AdmittedMessage& message, Gate gate) {
  const auto decoded = jetstream_decoder_.decode(as_text(message.bytes), jetstream_);
  if (!decoded) {
    reject_message(services_, message.ticket, message.did, message.seq, decoded.error().message(),
                   std::move(message.bytes));
    return;
  }
  if (!passes(message, jetstream_.events, jetstream_.time, gate)) return;
  switch (jetstream_.kind) {
    case event::JetstreamKind::Commit:
      services_.intake.commits += 1;
      services_.intake.ops += 1;
      if (!jetstream_.cid_matches) services_.intake.altered += 1;
      break;
    case event::JetstreamKind::Identity:
      services_.intake.identities += 1;
      break;
    case event::JetstreamKind::Account:
      services_.intake.accounts += 1;
      break;
    case event::JetstreamKind::Sync:
      services_.intake.syncs += 1;
      logger("intake")->info(
          "did={}: its repository was replaced, and Jetstream does not send its records: run skua "
          "backfill",
          jetstream_.did);
      break;
    case event::JetstreamKind::Info:
      services_.intake.infos += 1;
      logger("intake")->info("{}: {}", jetstream_.name, jetstream_.message);
      break;
    case event::JetstreamKind::Error:
      services_.intake.errors += 1;
      break;
    case event::JetstreamKind::Unknown:
      services_.intake.unknown += 1;
      break;
  }
  hand_on(message, jetstream_.events, jetstream_.time, jetstream_.time);
}

void MessageDecoder::hand_on(const AdmittedMessage& message,
                             std::vector<event::UnresolvedEvent>& events, Timestamp stated,
                             Timestamp time) {
  const Timestamp now = services_.clock.now();
  for (const event::UnresolvedEvent& event : events) {
    if (!is_of_the_future(event, stated, now)) continue;
    services_.intake.drop(verify::errc::future_rev);
    logger("intake")->debug("did={} seq={}: dropped: its revision lies in the future", event.did,
                            event.seq);
    services_.in_flight.decoded(message.ticket, 0, Timestamp{});
    return;
  }
  for (event::UnresolvedEvent& event : events) {
    if (auto* account = std::get_if<event::AccountChange>(&event.body)) {
      account->purge = !account->active && account->status == "deleted";
    }
  }
  note_time(services_.intake, time, now);
  dispatch(services_, filter_, message.ticket, events, time);
}

}  // namespace skua::ingest
