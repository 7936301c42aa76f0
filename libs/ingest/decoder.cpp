#include "ingest/decoder.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/log.hpp"
#include "ingest/decode_guard.hpp"
#include "verify/errc.hpp"

namespace skua::ingest {
namespace {

void count(IntakeCounters& intake, const event::DecodedFrame& frame, Timestamp now) {
  switch (frame.type) {
    case event::MessageType::Commit:
      intake.commits += 1;
      intake.ops += frame.events.size();
      break;
    case event::MessageType::Sync:
      intake.syncs += 1;
      break;
    case event::MessageType::Identity:
      intake.identities += 1;
      break;
    case event::MessageType::Account:
      intake.accounts += 1;
      break;
    case event::MessageType::Info:
      intake.infos += 1;
      break;
    case event::MessageType::Error:
      intake.errors += 1;
      break;
    case event::MessageType::Unknown:
      intake.unknown += 1;
      break;
  }
  note_time(intake, frame.time, now);
}

CommitProcessor::Options processor_options(const DecoderServices& services) {
  const Verification* verification = services.verification;
  if (verification == nullptr) return {.level = std::nullopt};
  return {.level = verification->level,
          .remembered = verification->remembered / services.decoders,
          .has_hosts = verification->accounts.has_hosts()};
}

/// Adds an identity event to the first commit of an account, so that its handle is stored.
void add_handle(event::DecodedFrame& message, const std::optional<std::string>& handle) {
  if (!handle || handle->empty()) return;
  event::UnresolvedEvent event;
  event.did = message.did;
  event.type = event::RecordType::Actor;
  event.seq = message.seq;
  event.body = event::IdentityChange{handle, message.time};
  message.events.push_back(std::move(event));
}

/// Adds an account event to a commit of an account that is active again. Its time is that of the
/// commit, which is later than the stored status.
void add_active_status(event::DecodedFrame& message) {
  event::UnresolvedEvent event;
  event.did = message.did;
  event.type = event::RecordType::Actor;
  event.seq = message.seq;
  event.body = event::AccountChange{.active = true, .status = {}, .time = message.rev->time()};
  message.events.push_back(std::move(event));
}

}  // namespace

Decoder::Decoder(DecoderServices services)
    : services_(std::move(services)),
      gate_(services_.out.runtime.clocks.latest, services_.out.intake),
      processor_(processor_options(services_)),
      budget_(services_.parked) {}

void Decoder::take(AdmittedMessage& message) {
  const auto now = FutureGate::SteadyTime::clock::now();
  if (gate_.pass(message, dates_of(message), now)) begin(Job(std::move(message)));
}

bool Decoder::tick() {
  keep_to_budget();
  if (!gate_.empty()) {
    for (AdmittedMessage& message : gate_.release(FutureGate::SteadyTime::clock::now())) {
      begin(Job(std::move(message)));
    }
  }
  return !gate_.empty() || !budget_.empty();
}

std::size_t Decoder::abandoned() const {
  std::size_t abandoned = gate_.size();
  for (const auto& [did, parked] : parked_) abandoned += parked.jobs.size();
  return abandoned;
}

void Decoder::begin(Job job) {
  if (!parked_.empty() && !job.did.empty()) {
    if (const auto place = parked_.find(std::string(job.did)); place != parked_.end()) {
      Parked& parked = place->second;
      parked.bytes += job.bytes.size();
      if (!replaces_last(parked, job)) parked.jobs.push_back(std::move(job));
      count_parked(place->first, place->second);
      return;
    }
  }
  if (step(job) == Step::Done) return;
  services_.out.in_flight.made_at(job.ticket, job.decoded->time);
  const std::string did(job.did);
  Parked& parked = parked_[did];
  parked.bytes += job.bytes.size();
  parked.jobs.push_back(std::move(job));
  count_parked(did, parked);
  services_.out.intake.accounts_waiting += 1;
}

Decoder::Step Decoder::step(Job& job) {
  Step step = Step::Done;
  guard_message(services_.out, job, [&] { step = decode_and_process(job); });
  return step;
}

Decoder::Step Decoder::decode_and_process(Job& job) {
  // The known head of an account that the filter excludes stays as it is: when the account is back,
  // its missed commits show as a gap.
  filter_ = services_.out.filter_now();
  if (is_left_out(filter_, job.did)) {
    const bool is_decoded = may_signal(services_.out, *filter_, job.did, job.bytes) &&
                            decoder_.decode(job.bytes, decoded_).has_value();
    leave_out(services_.out, job.ticket,
              is_decoded ? std::span(decoded_.events) : std::span<event::UnresolvedEvent>());
    return Step::Done;
  }
  if (job.defect) {
    reject_defect(services_.out, job);
    return Step::Done;
  }
  if (job.decoded) return process(job, *job.decoded);
  if (const auto result = decoder_.decode(job.bytes, decoded_); !result) {
    reject_message(services_.out, job.ticket, job.did, job.seq, result.error().message(),
                   std::move(job.bytes));
    return Step::Done;
  }
  return process(job, decoded_);
}

Decoder::Step Decoder::process(Job& job, event::DecodedFrame& message) {
  const auto outcome =
      processor_.process(message, job.answers, skips_host(job), services_.out.now());
  if (const auto* question = std::get_if<CommitProcessor::Ask>(&outcome)) {
    if (!job.decoded) job.decoded = std::make_unique<event::DecodedFrame>(std::move(message));
    ask(job, *question);
    return Step::Waits;
  }
  if (const auto* accepted = std::get_if<CommitProcessor::Accept>(&outcome)) {
    accept(job, message, *accepted);
  } else if (const auto* dropped = std::get_if<CommitProcessor::Drop>(&outcome)) {
    drop(job, message, *dropped);
  } else {
    drop_stale(job, message);
  }
  return Step::Done;
}

void Decoder::accept(const Job& job, event::DecodedFrame& message,
                     const CommitProcessor::Accept& accepted) {
  IntakeCounters& intake = services_.out.intake;
  if (accepted.is_verified) intake.verified += 1;
  if (accepted.has_former_key) intake.former_keys += 1;
  if (accepted.is_unsettled) intake.unsettled_accounts += 1;
  if (accepted.continuity == verify::Continuity::Broken) {
    intake.broke += 1;
    logger("verify")->debug("did={} seq={}: messages are missing before it", job.did, job.seq);
  }
  if (accepted.is_active_again) {
    logger("verify")->info("did={} seq={}: its host says that the hidden account is active",
                           job.did, job.seq);
  }
  if (accepted.wants_key) ask_identity(job, 0, accounts::AccountSource::Freshness::Recent);
  if (accepted.repository && services_.verification->heads != nullptr) {
    services_.verification->heads->add(job.ticket, *accepted.repository, accepted.continuity);
  }
  if (accepted.wants_resync && services_.verification->heads != nullptr) {
    services_.verification->heads->add_gap(job.ticket, {std::string(job.did), message.rev});
  }
  count(intake, message, services_.out.now());
  if (message.type == event::MessageType::Info) {
    logger("intake")->info("#info {}: {}", message.name, message.message);
  }
  event::fold_commit(message.events);
  if (accepted.is_first) add_handle(message, job.answers.document_handle);
  if (accepted.is_active_again) add_active_status(message);
  dispatch(services_.out, filter_, job.ticket, message.events, message.time);
}

void Decoder::drop(const Job& job, const event::DecodedFrame& message,
                   const CommitProcessor::Drop& dropped) {
  if (dropped.is_gap && services_.verification->heads != nullptr) {
    services_.verification->heads->add_gap(job.ticket, {std::string(job.did), message.rev});
  }
  services_.out.intake.drop(dropped.reason);
  logger("verify")->debug("did={} seq={}: dropped: {}", job.did, job.seq,
                          make_error_code(dropped.reason).message());
  services_.out.in_flight.decoded(job.ticket, 0, message.time);
}

void Decoder::drop_stale(const Job& job, const event::DecodedFrame& message) {
  services_.out.intake.stale_accounts += 1;
  logger("verify")->debug("did={} seq={}: dropped: its host reports that the account is active",
                          job.did, job.seq);
  services_.out.in_flight.decoded(job.ticket, 0, message.time);
}

}  // namespace skua::ingest
