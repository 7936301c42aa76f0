#include <utility>

#include "atproto/syntax.hpp"
#include "base/log.hpp"
#include "identity/errc.hpp"
#include "ingest/decoder.hpp"

// The questions of a Decoder, their answers, and the frames that are parked until then.

namespace skua::ingest {

void Decoder::ask(Job& job, const CommitProcessor::Ask& question) {
  using What = CommitProcessor::Ask::What;
  job.question = question.what == What::Repository ? kLookup : ++questions_;
  job.waits_for_host = question.what == What::HostStatus ||
                       (question.what == What::Identity && !atproto::is_plc_did(job.did));
  switch (question.what) {
    case What::Repository:
      return find_repository(job);
    case What::Identity:
      return ask_identity(job, job.question, question.freshness);
    case What::HostStatus:
      return ask_host(job);
    case What::FormerKeys:
      return ask_former_keys(job);
  }
}

void Decoder::find_repository(const Job& job) {
  RepositoryLookup::RowFound on_row;
  if (!atproto::is_plc_did(job.did)) {
    on_row = [this, answers = services_.answers](const store::RepositoryRow& row) {
      answers.pass(row.did, [this, row] { row_found(row); });
    };
  }
  services_.verification->repositories->find(
      std::string(job.did),
      [this, answers = services_.answers](FoundRepository found) {
        const std::string did = found.row.did;
        answers.pass(did, [this, found = std::move(found)]() mutable {
          repository_found(std::move(found));
        });
      },
      std::move(on_row));
}

void Decoder::ask_identity(const Job& job, std::uint64_t question,
                           accounts::AccountSource::Freshness freshness) {
  const std::string did(job.did);
  services_.verification->accounts.identity(
      did, freshness,
      [this, answers = services_.answers, did, question,
       freshness](Result<identity::Account> account) {
        answers.pass(did, [this, did, question, freshness, account = std::move(account)] {
          identity_found(did, question, freshness, account);
        });
      });
}

void Decoder::ask_host(const Job& job) {
  const std::string did(job.did);
  services_.verification->accounts.status(
      did, [this, answers = services_.answers, did,
            question = job.question](Result<identity::HostStatus> status) {
        answers.pass(did, [this, did, question, status = std::move(status)]() mutable {
          status_found(did, question, std::move(status));
        });
      });
}

void Decoder::ask_former_keys(const Job& job) {
  const std::string did(job.did);
  services_.verification->accounts.keys_near(
      did, job.decoded->rev->time(), accounts::AccountSource::KeyUse::Commits,
      [this, answers = services_.answers, did,
       question = job.question](Result<std::vector<atproto::Multikey>> keys) {
        answers.pass(did, [this, did, question, keys = std::move(keys)]() mutable {
          former_keys_found(did, question, std::move(keys));
        });
      });
}

void Decoder::row_found(const store::RepositoryRow& row) {
  processor_.set_repository(row);
  const auto place = parked_.find(row.did);
  if (place == parked_.end()) return;
  place->second.jobs.front().waits_for_host = true;
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
    place->second.jobs.front().answers.document_handle = found.account->handle;
  }
  resume(did);
}

void Decoder::identity_found(const std::string& did, std::uint64_t question,
                             accounts::AccountSource::Freshness freshness,
                             const Result<identity::Account>& account) {
  processor_.set_identity(did, account, freshness, services_.out.now());
  if (question == 0) return;  // a refresh, while the stream continues
  end_skip(did, question);
  Job* job = waiting_for(did, question);
  if (job == nullptr) return;
  job->answers.has_fresh_identity = true;
  if (account) {
    job->answers.document_handle = account->handle;
  } else {
    job->answers.is_tombstoned = account.error() == identity::errc::did_tombstoned;
  }
  resume(did);
}

void Decoder::status_found(const std::string& did, std::uint64_t question,
                           Result<identity::HostStatus> status) {
  end_skip(did, question);
  Job* job = waiting_for(did, question);
  if (job == nullptr) return;
  job->answers.asked_host = true;
  if (status) job->answers.host_status = *std::move(status);
  resume(did);
}

void Decoder::former_keys_found(const std::string& did, std::uint64_t question,
                                Result<std::vector<atproto::Multikey>> keys) {
  Job* job = waiting_for(did, question);
  if (job == nullptr) return;
  job->answers.has_former_keys = true;
  if (keys) job->answers.former_keys = *std::move(keys);
  resume(did);
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

bool Decoder::replaces_last(Parked& parked, Job& job) {
  const auto is_identity = [](const Job& one) { return one.type == event::MessageType::Identity; };
  // The question of the first job may have been answered before the document changed.
  if (parked.jobs.size() < 2) return false;
  Job& last = parked.jobs.back();
  if (!is_identity(job) || !is_identity(last)) return false;
  services_.out.intake.merged_identities += 1;
  services_.out.in_flight.decoded(last.ticket, 0, Timestamp{});
  parked.bytes -= last.bytes.size();
  last = std::move(job);
  return true;
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
    skip_host(*did);
  }
}

void Decoder::skip_host(const std::string& did) {
  Parked& parked = parked_.at(did);
  logger("verify")->warn(
      "did={}: its host does not answer, and {} messages ({} bytes) waited for it: commits that "
      "need it are dropped, and a resync follows",
      did, parked.jobs.size(), parked.bytes);
  Job& first = parked.jobs.front();
  skipped_hosts_[did] = std::exchange(first.question, kLookup);
  resume(did);
}

bool Decoder::skips_host(const Job& job) const {
  return !skipped_hosts_.empty() && skipped_hosts_.contains(std::string(job.did));
}

bool Decoder::end_skip(const std::string& did, std::uint64_t question) {
  const auto place = skipped_hosts_.find(did);
  if (place == skipped_hosts_.end() || place->second != question) return false;
  skipped_hosts_.erase(place);
  return true;
}

}  // namespace skua::ingest
