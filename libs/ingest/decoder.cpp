#include "ingest/decoder.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "atproto/syntax.hpp"
#include "base/log.hpp"
#include "identity/errc.hpp"
#include "ingest/decode_guard.hpp"
#include "verify/errc.hpp"

namespace skua::ingest {
namespace {

/// After this long a document that was of no use is asked for again, and a key that works is
/// refreshed beside the work.
constexpr std::chrono::minutes kUselessFor{5};
constexpr std::chrono::hours kKeyFreshFor{24};

using Freshness = accounts::AccountSource::Freshness;

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

/// Whose word a status is: `deleted` and `deactivated` are the account's own, said by its host, and
/// a host that the account has left goes on saying them. The rest may be the relay's own decision.
bool is_hosts_word(const event::AccountChange& change) {
  return change.status == "deleted" || change.status == "deactivated";
}

}  // namespace

Decoder::Decoder(DecoderServices services)
    : services_(std::move(services)),
      // What may be in flight at all bounds the queue.
      queue_(std::make_shared<Queue>(std::numeric_limits<std::size_t>::max())),
      gate_(services_.out.clock, services_.out.intake),
      verifier_(services_.verification != nullptr ? services_.verification->level
                                                  : verify::Level::Full),
      known_(services_.verification != nullptr
                 ? services_.verification->remembered / services_.decoders
                 : 0),
      budget_(services_.parked),
      thread_([this] { guard_thread(services_.out, [this] { run(); }); }) {}

Decoder::~Decoder() {
  close();
  join();
}

void Decoder::push(AdmittedMessage message) {
  queue_->push(Job(std::move(message)));
}

void Decoder::close() {
  queue_->close();
}

void Decoder::join() {
  if (thread_.joinable()) thread_.join();
}

void Decoder::run() {
  std::vector<Item> items;
  while (next_items(*queue_, !gate_.empty() || !budget_.empty(), items)) {
    for (Item& item : items) {
      std::visit([this](auto&& one) { take(std::forward<decltype(one)>(one)); }, std::move(item));
    }
    keep_to_budget();
    if (gate_.empty()) continue;
    for (AdmittedMessage& message : gate_.release(FutureGate::SteadyTime::clock::now())) {
      begin(Job(std::move(message)));
    }
  }
  abandoned_ += gate_.size();
  for (const auto& [did, parked] : parked_) abandoned_ += parked.jobs.size();
}

void Decoder::take(Job job) {
  const auto now = FutureGate::SteadyTime::clock::now();
  const bool passes = guard_message(
      services_.out, job, false, [&] { return gate_.pass(job, dates_of_frame(job.bytes), now); });
  if (passes) begin(std::move(job));
}

void Decoder::begin(Job job) {
  if (!parked_.empty() && !job.did.empty()) {
    if (const auto place = parked_.find(std::string(job.did)); place != parked_.end()) {
      place->second.bytes += job.bytes.size();
      place->second.jobs.push_back(std::move(job));
      count_parked(place->first, place->second);
      return;
    }
  }
  if (step(job) == Step::Done) return;
  services_.out.in_flight.made_at(job.ticket, decoded_.time);
  const std::string did(job.did);
  Parked& parked = parked_[did];
  parked.bytes += job.bytes.size();
  parked.jobs.push_back(std::move(job));
  count_parked(did, parked);
  services_.out.intake.accounts_waiting += 1;
}

Decoder::Step Decoder::step(Job& job) {
  return guard_message(services_.out, job, Step::Done, [&] { return step_on(job); });
}

Decoder::Step Decoder::step_on(Job& job) {
  // Where its repository stands is left as it is: what is missed meanwhile shows as a gap.
  filter_ = services_.out.filter_now();
  if (leave_out(services_.out, filter_, job.ticket, job.did)) return Step::Done;
  if (const auto result = decoder_.decode(job.bytes, decoded_); result.has_error()) {
    reject(job, result.error().message());
    return Step::Done;
  }
  switch (decoded_.type) {
    case event::MessageType::Commit:
    case event::MessageType::Sync:
      return step_commit(job);
    case event::MessageType::Account:
      return step_account(job);
    case event::MessageType::Identity:
      return step_identity(job);
    default:
      dispatch(job);
      return Step::Done;
  }
}

Decoder::Step Decoder::step_commit(Job& job) {
  const Timestamp now = services_.out.clock.now();
  if (services_.verification == nullptr) {
    if (verify::is_of_the_future(*decoded_.rev, decoded_.time, now)) {
      drop(job, verify::errc::future_rev);
    } else {
      dispatch(job);
    }
    return Step::Done;
  }
  verify::KnownRepository* repository = repository_of(job);
  if (repository == nullptr) {
    if (!is_given_up(job)) return find_repository(job);
    drop_unverified(job);
    return Step::Done;
  }
  const auto reason_of = [](const auto& failed) {
    return static_cast<verify::errc>(failed.error().value());
  };
  const verify::RepositoryState state = repository->state();
  const auto commit = verify::CommitVerifier::admit(decoded_, decoder_.car(), state, now);
  if (!commit) {
    drop(job, reason_of(commit));
    return Step::Done;
  }
  const auto* key = repository->key() ? known_.parsed_key(*repository->key()) : nullptr;
  if (key == nullptr) {
    if (!job.has_fresh_identity && repository->key_age(now) >= kUselessFor) {
      return refresh_identity(job, Freshness::Recent);
    }
    if (job.was_given_up) {
      drop_unverified(job);
    } else {
      drop(job, verify::errc::no_did_document);
    }
    return Step::Done;
  }
  auto accepted = verifier_.verify(decoded_, decoder_.car(), *commit, *key, state);
  if (!accepted && reason_of(accepted) == verify::errc::wrong_signature) {
    // Keys change, and nobody may have told; or we are behind, and the key of that time is meant.
    if (!job.has_fresh_identity) return refresh_identity(job, Freshness::Recent);
    // Only the directory keeps the keys of the past.
    if (!job.has_former_key && atproto::is_plc_did(job.did) &&
        services_.verification->accounts.has_hosts()) {
      return ask_former_key(job);
    }
    const auto* former = job.former_key ? known_.parsed_key(*job.former_key) : nullptr;
    if (former != nullptr) {
      accepted = verifier_.verify(decoded_, decoder_.car(), *commit, *former, state);
      if (accepted) services_.out.intake.former_keys += 1;
    }
  }
  if (!accepted) {
    // Perhaps by a key that the account's host would have told.
    if (job.was_given_up && reason_of(accepted) == verify::errc::wrong_signature) {
      drop_unverified(job);
    } else {
      drop(job, reason_of(accepted));
    }
    return Step::Done;
  }
  const bool is_first = verify::is_first(accepted->continuity);
  // What was known when it was looked up went with a frame that was dropped.
  if (is_first && !job.document_handle && !job.has_fresh_identity) {
    return refresh_identity(job, Freshness::Known);
  }
  if (repository->key_age(now) >= kKeyFreshFor) {
    repository->set_key(repository->key(), now);
    ask_identity(job, 0, Freshness::Recent);
  }
  repository->set_last(accepted->link);
  services_.out.intake.verified += 1;
  if (accepted->continuity == verify::Continuity::Broken) {
    services_.out.intake.broke += 1;
    logger("verify")->debug("did={} seq={}: does not follow what was known", job.did, job.seq);
  }
  log(job, *repository, accepted->continuity);
  dispatch(job, is_first);
  return Step::Done;
}

Decoder::Step Decoder::step_account(Job& job) {
  auto* change = decoded_.events.empty()
                     ? nullptr
                     : std::get_if<event::AccountChange>(&decoded_.events.front().body);
  if (change == nullptr) {
    dispatch(job);
    return Step::Done;
  }
  const Verification* verification = services_.verification;
  change->purge = !change->active && change->status == "deleted";
  if (verification == nullptr) {
    dispatch(job);
    return Step::Done;
  }
  verify::KnownRepository* repository = repository_of(job);
  if (repository == nullptr && !is_given_up(job)) return find_repository(job);
  // The hosting status hides an account. It is about the present: a run that is behind still
  // accepts earlier commits of the account, because their signatures prove them.
  const bool counts = change->active || is_hosts_word(*change);
  if (!change->active && is_hosts_word(*change) && verification->accounts.has_hosts()) {
    if (job.word == Job::Word::NotAsked) return ask_host(job);
    if (job.word == Job::Word::Unknown) {
      // Hidden it can come back; what is purged cannot.
      change->purge = false;
      services_.out.intake.unsettled_accounts += 1;
    } else if (job.host_status.active) {
      services_.out.intake.stale_accounts += 1;
      logger("verify")->debug("did={} seq={}: dropped, its host says that it is active", job.did,
                              job.seq);
      finish(job);
      return Step::Done;
    } else {
      // What cannot be undone takes the word of both.
      change->purge = change->purge && job.host_status.status == "deleted";
      if (!job.host_status.status.empty()) change->status = job.host_status.status;
    }
  }
  if (repository != nullptr) {
    if (const auto last = repository->state().last) change->last_rev = last->rev;
    repository->set_active(counts);
    log(job, *repository, verify::Continuity::Next);
  }
  dispatch(job);
  return Step::Done;
}

Decoder::Step Decoder::step_identity(Job& job) {
  if (services_.verification != nullptr) {
    if (!job.has_fresh_identity) return refresh_identity(job, Freshness::Now);
    auto* change = decoded_.events.empty()
                       ? nullptr
                       : std::get_if<event::IdentityChange>(&decoded_.events.front().body);
    // The message is a host's claim: what counts stands in the document.
    if (change != nullptr && job.document_handle) change->handle = job.document_handle;
  }
  dispatch(job);
  return Step::Done;
}

void Decoder::introduce(const Job& job) {
  if (!job.document_handle || job.document_handle->empty()) return;
  event::UnresolvedEvent event;
  event.did = std::string(job.did);
  event.type = event::RecordType::Actor;
  event.seq = job.seq;
  event.body = event::IdentityChange{job.document_handle, decoded_.time};
  decoded_.events.push_back(std::move(event));
}

void Decoder::log(const Job& job, const verify::KnownRepository& repository,
                  verify::Continuity continuity) {
  if (services_.verification->heads == nullptr) return;
  store::RepositoryRow row;
  row.did = std::string(job.did);
  if (const auto last = repository.state().last) row.head = {last->rev, last->data};
  row.active = repository.active();
  services_.verification->heads->add(job.ticket, row, continuity);
}

void Decoder::dispatch(const Job& job, bool is_first) {
  count(services_.out.intake, decoded_, services_.out.clock.now());
  if (decoded_.type == event::MessageType::Info) {
    logger("intake")->info("#info {}: {}", decoded_.name, decoded_.message);
  }
  event::fold_commit(decoded_.events);
  if (is_first) introduce(job);
  ingest::dispatch(services_.out, filter_, job.ticket, decoded_.events, decoded_.time);
}

void Decoder::drop(const Job& job, verify::errc reason) {
  services_.out.intake.drop(reason);
  logger("verify")->debug("did={} seq={}: dropped: {}", job.did, job.seq,
                          make_error_code(reason).message());
  finish(job);
}

void Decoder::drop_unverified(const Job& job) {
  if (services_.verification->heads != nullptr) {
    services_.verification->heads->add_gap(job.ticket, std::string(job.did));
  }
  drop(job, verify::errc::parked_over_budget);
}

void Decoder::finish(const Job& job) {
  services_.out.in_flight.decoded(job.ticket, 0, decoded_.time);
}

void Decoder::reject(Job& job, const std::string& error) {
  reject_message(services_.out, job.ticket, job.did, job.seq, error, std::move(job.bytes));
}

}  // namespace skua::ingest
