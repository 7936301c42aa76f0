#include "pipeline/decoder.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "atproto/syntax.hpp"
#include "base/log.hpp"
#include "documents/errc.hpp"
#include "pipeline/decode_guard.hpp"
#include "verify/errc.hpp"

namespace skua::pipeline {

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
  const VerificationServices* verification = services.verification;
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

/// Adds an account event to a commit of an account that is active again. The time of the event is
/// the time of the commit, which is later than the stored status.
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
  if (gate_.pass(message, dates_of(message), now)) begin(PendingFrame(std::move(message)));
}

bool Decoder::tick() {
  keep_to_budget();
  if (!gate_.empty()) {
    for (AdmittedMessage& message : gate_.release(FutureGate::SteadyTime::clock::now())) {
      begin(PendingFrame(std::move(message)));
    }
  }
  return !gate_.empty() || !budget_.empty();
}

std::size_t Decoder::abandoned() const {
  std::size_t abandoned = gate_.size();
  for (const auto& [did, parked] : parked_) abandoned += parked.frames.size();
  return abandoned;
}

void Decoder::begin(PendingFrame frame) {
  if (!parked_.empty() && !frame.did.empty()) {
    if (const auto place = parked_.find(std::string(frame.did)); place != parked_.end()) {
      Parked& parked = place->second;
      parked.bytes += frame.bytes.size();
      if (!replaces_last(parked, frame)) parked.frames.push_back(std::move(frame));
      count_parked(place->first, place->second);
      return;
    }
  }
  if (step(frame) == Step::Done) return;
  services_.out.in_flight.made_at(frame.ticket, frame.decoded->time);
  const std::string did(frame.did);
  Parked& parked = parked_[did];
  parked.bytes += frame.bytes.size();
  parked.frames.push_back(std::move(frame));
  count_parked(did, parked);
  services_.out.intake.accounts_waiting += 1;
}

Decoder::Step Decoder::step(PendingFrame& frame) {
  Step step = Step::Done;
  guard_message(services_.out, frame, [&] { step = decode_and_process(frame); });
  return step;
}

Decoder::Step Decoder::decode_and_process(PendingFrame& frame) {
  // The known head of an account that the filter excludes is not changed. When the filter includes
  // the account again, its missed commits therefore show as a gap.
  filter_ = services_.out.filter_now();
  if (is_left_out(filter_, frame.did)) {
    const bool is_decoded = may_signal(services_.out, *filter_, frame.did, frame.bytes) &&
                            decoder_.decode(frame.bytes, decoded_).has_value();
    leave_out(services_.out, frame.ticket,
              is_decoded ? std::span(decoded_.events) : std::span<event::UnresolvedEvent>());
    return Step::Done;
  }
  if (frame.defect) {
    reject_defect(services_.out, frame);
    return Step::Done;
  }
  if (frame.decoded) return process(frame, *frame.decoded);
  if (const auto result = decoder_.decode(frame.bytes, decoded_); !result) {
    reject_message(services_.out, frame.ticket, frame.did, frame.seq, result.error().message(),
                   std::move(frame.bytes));
    return Step::Done;
  }
  return process(frame, decoded_);
}

Decoder::Step Decoder::process(PendingFrame& frame, event::DecodedFrame& message) {
  const auto outcome =
      processor_.process(message, frame.answers, skips_host(frame), services_.out.now());
  if (const auto* question = std::get_if<CommitProcessor::Ask>(&outcome)) {
    if (!frame.decoded) frame.decoded = std::make_unique<event::DecodedFrame>(std::move(message));
    ask(frame, *question);
    return Step::Waits;
  }
  if (const auto* accepted = std::get_if<CommitProcessor::Accept>(&outcome)) {
    accept(frame, message, *accepted);
  } else if (const auto* dropped = std::get_if<CommitProcessor::Drop>(&outcome)) {
    drop(frame, message, *dropped);
  } else {
    drop_stale(frame, message);
  }
  return Step::Done;
}

void Decoder::accept(const PendingFrame& frame, event::DecodedFrame& message,
                     const CommitProcessor::Accept& accepted) {
  IntakeCounters& intake = services_.out.intake;
  if (accepted.is_verified) intake.verified += 1;
  if (accepted.has_former_key) intake.former_keys += 1;
  if (accepted.is_unsettled) intake.unsettled_accounts += 1;
  if (accepted.continuity == verify::Continuity::Broken) {
    intake.broke += 1;
    logger("verify")->debug("did={} seq={}: messages are missing before it", frame.did, frame.seq);
  }
  if (accepted.is_active_again) {
    logger("verify")->info("did={} seq={}: its host says that the hidden account is active",
                           frame.did, frame.seq);
  }
  if (accepted.wants_key) {
    ask_identity(frame, kNoQuestion, accounts::AccountSource::Freshness::Recent);
  }
  if (accepted.repository && services_.verification->heads != nullptr) {
    services_.verification->heads->add(frame.ticket, *accepted.repository, accepted.continuity);
  }
  if (accepted.wants_resync && services_.verification->heads != nullptr) {
    services_.verification->heads->add_gap(frame.ticket, {std::string(frame.did), message.rev});
  }
  count(intake, message, services_.out.now());
  if (message.type == event::MessageType::Info) {
    logger("intake")->info("#info {}: {}", message.name, message.message);
  }
  event::fold_commit(message.events);
  if (accepted.is_first) add_handle(message, frame.answers.document_handle);
  if (accepted.is_active_again) add_active_status(message);
  dispatch(services_.out, filter_, frame.ticket, message.events, message.time);
}

void Decoder::drop(const PendingFrame& frame, const event::DecodedFrame& message,
                   const CommitProcessor::Drop& dropped) {
  if (dropped.is_gap && services_.verification->heads != nullptr) {
    services_.verification->heads->add_gap(frame.ticket, {std::string(frame.did), message.rev});
  }
  services_.out.intake.drop(dropped.reason);
  logger("verify")->debug("did={} seq={}: dropped: {}", frame.did, frame.seq,
                          make_error_code(dropped.reason).message());
  services_.out.in_flight.decoded(frame.ticket, 0, message.time);
}

void Decoder::drop_stale(const PendingFrame& frame, const event::DecodedFrame& message) {
  services_.out.intake.stale_accounts += 1;
  logger("verify")->debug("did={} seq={}: dropped: its host reports that the account is active",
                          frame.did, frame.seq);
  services_.out.in_flight.decoded(frame.ticket, 0, message.time);
}

void Decoder::ask(PendingFrame& frame, const CommitProcessor::Ask& question) {
  using What = CommitProcessor::Ask::What;
  frame.question = question.what == What::Repository ? kLookup : ++last_question_;
  frame.waits_for_host = question.what == What::HostStatus ||
                         (question.what == What::Identity && !atproto::is_plc_did(frame.did));
  switch (question.what) {
    case What::Repository:
      return find_repository(frame);
    case What::Identity:
      return ask_identity(frame, frame.question, question.freshness);
    case What::HostStatus:
      return ask_host(frame);
    case What::FormerKeys:
      return ask_former_keys(frame);
  }
}

void Decoder::find_repository(const PendingFrame& frame) {
  RepositoryLookup::RowFound on_row;
  if (!atproto::is_plc_did(frame.did)) {
    on_row = [this, answers = services_.answers](const tables::RepositoryRow& row) {
      answers.pass(row.did, [this, row] { row_found(row); });
    };
  }
  services_.verification->repositories->find(
      std::string(frame.did),
      [this, answers = services_.answers](FoundRepository found) {
        const std::string did = found.row.did;
        answers.pass(did, [this, found = std::move(found)]() mutable {
          repository_found(std::move(found));
        });
      },
      std::move(on_row));
}

void Decoder::ask_identity(const PendingFrame& frame, Question question,
                           accounts::AccountSource::Freshness freshness) {
  const std::string did(frame.did);
  services_.verification->accounts.identity(
      did, freshness,
      [this, answers = services_.answers, did, question,
       freshness](Result<documents::Account> account) {
        answers.pass(did, [this, did, question, freshness, account = std::move(account)] {
          identity_found(did, question, freshness, account);
        });
      });
}

void Decoder::ask_host(const PendingFrame& frame) {
  const std::string did(frame.did);
  services_.verification->accounts.status(
      did, [this, answers = services_.answers, did,
            question = frame.question](Result<documents::HostStatus> status) {
        answers.pass(did, [this, did, question, status = std::move(status)]() mutable {
          status_found(did, question, std::move(status));
        });
      });
}

void Decoder::ask_former_keys(const PendingFrame& frame) {
  const std::string did(frame.did);
  services_.verification->accounts.keys_near(
      did, frame.decoded->rev->time(), accounts::AccountSource::KeyUse::Commits,
      [this, answers = services_.answers, did,
       question = frame.question](Result<std::vector<atproto::Multikey>> keys) {
        answers.pass(did, [this, did, question, keys = std::move(keys)]() mutable {
          former_keys_found(did, question, std::move(keys));
        });
      });
}

void Decoder::row_found(const tables::RepositoryRow& row) {
  processor_.set_repository(row);
  const auto place = parked_.find(row.did);
  if (place == parked_.end()) return;
  place->second.frames.front().waits_for_host = true;
  count_parked(place->first, place->second);
}

void Decoder::repository_found(FoundRepository found) {
  const std::string& did = found.row.did;
  processor_.set_repository(found.row);
  std::optional<atproto::Multikey> key;
  if (found.account) key = found.account->key;
  processor_.set_key(did, key, services_.out.now());
  if (end_skip(did, kLookup)) return;
  if (const auto place = parked_.find(did); found.account && place != parked_.end()) {
    place->second.frames.front().answers.document_handle = found.account->handle;
  }
  resume(did);
}

void Decoder::identity_found(const std::string& did, Question question,
                             accounts::AccountSource::Freshness freshness,
                             const Result<documents::Account>& account) {
  processor_.set_identity(did, account, freshness, services_.out.now());
  // The answer belongs to a refresh (Accept::wants_key), which no frame waits for.
  if (question == kNoQuestion) return;
  end_skip(did, question);
  PendingFrame* frame = waiting_for(did, question);
  if (frame == nullptr) return;
  frame->answers.has_fresh_identity = true;
  if (account) {
    frame->answers.document_handle = account->handle;
  } else {
    frame->answers.is_tombstoned = account.error() == documents::errc::did_tombstoned;
  }
  resume(did);
}

void Decoder::status_found(const std::string& did, Question question,
                           Result<documents::HostStatus> status) {
  end_skip(did, question);
  PendingFrame* frame = waiting_for(did, question);
  if (frame == nullptr) return;
  frame->answers.asked_host = true;
  if (status) frame->answers.host_status = *std::move(status);
  resume(did);
}

void Decoder::former_keys_found(const std::string& did, Question question,
                                Result<std::vector<atproto::Multikey>> keys) {
  PendingFrame* frame = waiting_for(did, question);
  if (frame == nullptr) return;
  frame->answers.has_former_keys = true;
  if (keys) frame->answers.former_keys = *std::move(keys);
  resume(did);
}

Decoder::PendingFrame* Decoder::waiting_for(const std::string& did, Question question) {
  const auto place = parked_.find(did);
  if (place == parked_.end()) return nullptr;
  PendingFrame& frame = place->second.frames.front();
  if (frame.question != question) return nullptr;
  frame.question = kNoQuestion;
  return &frame;
}

void Decoder::resume(const std::string& did) {
  const auto place = parked_.find(did);
  if (place == parked_.end()) return;
  Parked& parked = place->second;
  while (!parked.frames.empty()) {
    PendingFrame& first = parked.frames.front();
    const std::size_t size = first.bytes.size();  // `step` takes the bytes of a rejected frame
    first.waits_for_host = false;
    if (step(first) == Step::Waits) break;
    parked.bytes -= size;
    parked.frames.pop_front();
  }
  count_parked(did, parked);
  if (!parked.frames.empty()) return;
  parked_.erase(place);
  services_.out.intake.accounts_waiting -= 1;
}

bool Decoder::replaces_last(Parked& parked, PendingFrame& frame) {
  const auto is_identity = [](const PendingFrame& one) {
    return one.type == event::MessageType::Identity;
  };
  // The first frame is not replaced, because its question may have been answered before the
  // document changed.
  if (parked.frames.size() < 2) return false;
  PendingFrame& last = parked.frames.back();
  if (!is_identity(frame) || !is_identity(last)) return false;
  services_.out.intake.merged_identities += 1;
  services_.out.in_flight.decoded(last.ticket, 0, Timestamp{});
  parked.bytes -= last.bytes.size();
  last = std::move(frame);
  return true;
}

void Decoder::count_parked(const std::string& did, const Parked& parked) {
  if (!parked.frames.empty() && parked.frames.front().waits_for_host) {
    budget_.set(did, parked.bytes, parked.frames.front().ticket);
  } else {
    budget_.erase(did);
  }
}

void Decoder::keep_to_budget() {
  while (!budget_.empty()) {
    const auto did = budget_.beyond(services_.out.in_flight.next_ticket());
    if (!did) return;
    skip_host(*did);
  }
}

void Decoder::skip_host(const std::string& did) {
  Parked& parked = parked_.at(did);
  logger("verify")->warn(
      "did={}: its host does not answer, and {} messages ({} bytes) waited for it: commits that "
      "need it are dropped, and a resync follows",
      did, parked.frames.size(), parked.bytes);
  // The first frame continues without the answer. If the answer comes later, it ends the skip.
  skipped_hosts_[did] = std::exchange(parked.frames.front().question, kNoQuestion);
  resume(did);
}

bool Decoder::skips_host(const PendingFrame& frame) const {
  return !skipped_hosts_.empty() && skipped_hosts_.contains(std::string(frame.did));
}

bool Decoder::end_skip(const std::string& did, Question question) {
  const auto place = skipped_hosts_.find(did);
  if (place == skipped_hosts_.end() || place->second != question) return false;
  skipped_hosts_.erase(place);
  return true;
}

}  // namespace skua::pipeline
