#include <utility>

#include "atproto/syntax.hpp"
#include "base/log.hpp"
#include "identity/errc.hpp"
#include "ingest/decoder.hpp"

// What the frames of a Decoder wait for: questions, answers, and what is parked meanwhile.

namespace skua::ingest {
namespace {

using Freshness = accounts::AccountSource::Freshness;

verify::KnownRepository repository_of_row(const store::RepositoryRow& row) {
  verify::KnownRepository repository;
  if (row.head) repository.set_last({row.head->rev, row.head->data});
  repository.set_active(row.active);
  return repository;
}

}  // namespace

verify::KnownRepository* Decoder::repository_of(const Job& job) {
  return known_.find(verify::DidHash::of(job.did));
}

Decoder::Step Decoder::find_repository(const Job& job) {
  RepositoryLookup::RowFound row_found;
  if (!atproto::is_plc_did(job.did)) {
    row_found = [queue = queue_](const store::RepositoryRow& row) { queue->push(FoundRow{row}); };
  }
  services_.verification->repositories.find(
      std::string(job.did),
      [queue = queue_](FoundRepository found) { queue->push(std::move(found)); },
      std::move(row_found));
  return Step::Waits;
}

Decoder::Step Decoder::refresh_identity(Job& job, Freshness freshness) {
  const bool is_of_host = !atproto::is_plc_did(job.did);
  if (is_of_host && is_given_up(job)) {
    job.has_fresh_identity = true;
    job.was_given_up = true;
    return step(job);
  }
  job.question = ++questions_;
  job.waits_for_host = is_of_host;
  ask_identity(job, job.question, freshness);
  return Step::Waits;
}

void Decoder::ask_identity(const Job& job, std::uint64_t question, Freshness freshness) {
  const std::string did(job.did);
  services_.verification->accounts.identity(
      did, freshness,
      [queue = queue_, did, question, freshness](Result<accounts::AccountIdentity> identity) {
        queue->push(Identified{did, question, freshness, std::move(identity)});
      });
}

Decoder::Step Decoder::ask_host(Job& job) {
  if (is_given_up(job)) {
    job.word = Job::Word::Unknown;
    return step(job);
  }
  job.question = ++questions_;
  job.waits_for_host = true;
  const std::string did(job.did);
  services_.verification->accounts.status(
      did, [queue = queue_, did, question = job.question](Result<identity::HostStatus> status) {
        queue->push(Settled{did, question, std::move(status)});
      });
  return Step::Waits;
}

Decoder::Step Decoder::ask_former_key(Job& job) {
  job.question = ++questions_;
  const std::string did(job.did);
  services_.verification->accounts.key_at(
      did, decoded_.rev->time(), accounts::AccountSource::KeyUse::Commits,
      [queue = queue_, did, question = job.question](Result<std::optional<atproto::Multikey>> key) {
        queue->push(FormerlySigned{did, question, key});
      });
  return Step::Waits;
}

void Decoder::take(const FoundRow& found) {
  known_.put(verify::DidHash::of(found.row.did), repository_of_row(found.row));
  const auto place = parked_.find(found.row.did);
  if (place == parked_.end()) return;
  place->second.jobs.front().waits_for_host = true;
  count_parked(place->first, place->second);
}

void Decoder::take(FoundRepository found) {
  const std::string& did = found.row.did;
  const auto hash = verify::DidHash::of(did);
  // Since its row was found the account may have changed, if it was given up.
  auto* repository = known_.find(hash);
  if (repository == nullptr) repository = known_.put(hash, repository_of_row(found.row));
  std::optional<atproto::Multikey> key;
  if (found.identity) key = found.identity->key;
  repository->set_key(key, services_.out.clock.now());
  if (end_given_up(did, kLookup)) return;
  if (const auto place = parked_.find(did); found.identity && place != parked_.end()) {
    place->second.jobs.front().document_handle = found.identity->handle;
  }
  resume(did);
}

void Decoder::take(Identified identified) {
  auto* repository = known_.find(verify::DidHash::of(identified.did));
  if (repository != nullptr) {
    // Where no key is known, a host that failed as often as it is tried counts as one without.
    const bool is_last_word = !repository->key() && identified.freshness != Freshness::Now;
    // A server's failure does not make what is known wrong.
    if (identified.identity) {
      repository->set_key(identified.identity->key, services_.out.clock.now());
    } else if (!identity::is_server_failure(identified.identity.error()) || is_last_word) {
      repository->set_key(std::nullopt, services_.out.clock.now());
    }
  }
  if (identified.question == 0) return;  // A refresh beside the work.
  end_given_up(identified.did, identified.question);
  Job* job = waiting_for(identified.did, identified.question);
  if (job == nullptr) return;
  job->has_fresh_identity = true;
  if (identified.identity) job->document_handle = identified.identity->handle;
  resume(identified.did);
}

void Decoder::take(Settled settled) {
  end_given_up(settled.did, settled.question);
  Job* job = waiting_for(settled.did, settled.question);
  if (job == nullptr) return;
  job->word = settled.status ? Job::Word::Given : Job::Word::Unknown;
  if (settled.status) job->host_status = *std::move(settled.status);
  resume(settled.did);
}

void Decoder::take(FormerlySigned former) {
  Job* job = waiting_for(former.did, former.question);
  if (job == nullptr) return;
  job->has_former_key = true;
  if (former.key) job->former_key = *former.key;
  resume(former.did);
}

Decoder::Job* Decoder::waiting_for(const std::string& did, std::uint64_t question) {
  const auto place = parked_.find(did);
  if (place == parked_.end()) return nullptr;
  Job& job = place->second.jobs.front();
  if (job.question != question) return nullptr;
  job.question = 0;
  return &job;
}

void Decoder::resume(const std::string& did) {
  const auto place = parked_.find(did);
  if (place == parked_.end()) return;
  Parked& parked = place->second;
  while (!parked.jobs.empty()) {
    const std::size_t size = parked.jobs.front().bytes.size();
    parked.jobs.front().waits_for_host = false;
    if (step(parked.jobs.front()) == Step::Waits) break;
    parked.bytes -= size;
    parked.jobs.pop_front();
  }
  count_parked(did, parked);
  if (!parked.jobs.empty()) return;
  parked_.erase(place);
  services_.out.intake.accounts_waiting -= 1;
}

void Decoder::count_parked(const std::string& did, const Parked& parked) {
  if (!parked.jobs.empty() && parked.jobs.front().waits_for_host) {
    budget_.set(did, parked.bytes, parked.jobs.front().ticket);
  } else {
    budget_.erase(did);
  }
}

void Decoder::keep_to_budget() {
  while (!budget_.empty()) {
    const auto did = budget_.beyond(services_.out.in_flight.next_ticket());
    if (!did) return;
    give_up(*did);
  }
}

void Decoder::give_up(const std::string& did) {
  Parked& parked = parked_.at(did);
  logger("verify")->warn(
      "did={}: its host does not answer, and {} messages ({} bytes) waited for it: commits that "
      "need "
      "it are dropped, and a resync follows",
      did, parked.jobs.size(), parked.bytes);
  Job& first = parked.jobs.front();
  given_up_[did] = std::exchange(first.question, kLookup);
  resume(did);
}

bool Decoder::is_given_up(const Job& job) const {
  return !given_up_.empty() && given_up_.contains(std::string(job.did));
}

bool Decoder::end_given_up(const std::string& did, std::uint64_t question) {
  const auto place = given_up_.find(did);
  if (place == given_up_.end() || place->second != question) return false;
  given_up_.erase(place);
  return true;
}

}  // namespace skua::ingest
