#include "pipeline/commit_processor.hpp"

#include <chrono>
#include <utility>

#include "atproto/syntax.hpp"
#include "documents/errc.hpp"

namespace skua::pipeline {
namespace {

using Freshness = accounts::AccountSource::Freshness;
using Ask = CommitProcessor::Ask;
using Drop = CommitProcessor::Drop;
using Accept = CommitProcessor::Accept;
using Outcome = CommitProcessor::Outcome;

/// A document without a usable key is fetched again after this time.
constexpr std::chrono::minutes kUselessFor{5};
/// A key that works is refreshed after this time, while the stream continues.
constexpr std::chrono::hours kKeyFreshFor{24};

verify::errc reason_of(const ErrorCode& error) {
  return static_cast<verify::errc>(error.value());
}

Drop gap() {
  return {verify::errc::parked_over_budget, true};
}

/// Returns a question for the identity of the account. Returns nothing if the answer would need the
/// account's host, and the account no longer waits for its host.
std::optional<Ask> ask_identity(std::string_view did, Answers& answers, bool skips_host,
                                Freshness freshness) {
  if (!skips_host || atproto::is_plc_did(did)) return Ask{Ask::What::Identity, freshness};
  answers.has_fresh_identity = true;
  answers.skipped_host = true;
  return std::nullopt;
}

/// Whether the status is a status of the account's host. `deleted` and `deactivated` are decisions
/// of the account, which its host reports. A host that the account has left continues to report
/// them. The other statuses may be decisions of the relay.
bool is_status_of_host(const event::AccountChange& change) {
  return change.status == "deleted" || change.status == "deactivated";
}

bool is_deletion(const event::AccountChange& change) {
  return !change.active && change.status == "deleted";
}

/// Returns the event of an #account or #identity message, or null if the message has none.
template <class Change>
Change* change_in(event::DecodedFrame& message) {
  return message.events.empty() ? nullptr : std::get_if<Change>(&message.events.front().body);
}

/// Removes the events of operations of an accepted commit whose records are missing from its
/// blocks, if the record did not change. Returns whether another record is missing, whose event is
/// a Rejection.
bool lacks_records(event::DecodedFrame& message) {
  std::vector<event::UnresolvedEvent>& events = message.events;
  const auto is_rejection = [](const event::UnresolvedEvent& event) {
    return std::holds_alternative<event::Rejection>(event.body);
  };
  if (message.claim.malformed_ops) return false;
  // An operation has the same index in both lists.
  bool lacks = false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const event::OpClaim& op = message.claim.ops[i];
    if (is_rejection(events[i]) && op.cid && !message.car.blocks.contains(op.cid->digest)) {
      if (op.cid == op.prev) continue;
      lacks = true;
    }
    if (kept != i) events[kept] = std::move(events[i]);
    ++kept;
  }
  events.resize(kept);
  return lacks;
}

tables::RepositoryRow row_of(std::string_view did, const verify::KnownRepository& repository) {
  tables::RepositoryRow row;
  row.did = std::string(did);
  row.head = repository.state().head;
  row.active = repository.active();
  row.hidden_since = repository.hidden_since();
  return row;
}

/// Whether a revision is newer than the status that hides the account.
bool contradicts_status(const verify::KnownRepository& repository, atproto::Tid rev) {
  const auto hidden_since = repository.hidden_since();
  return hidden_since ? rev.time() > *hidden_since : !repository.active();
}

}  // namespace

CommitProcessor::CommitProcessor(Options options)
    : options_(options),
      verifier_(options_.level.value_or(verify::Level::Full)),
      known_(options_.level ? options_.remembered : 0) {}

Outcome CommitProcessor::process(event::DecodedFrame& message, Answers& answers, bool skips_host,
                                 Timestamp now) {
  if (!options_.level) return process_unverified(message, now);
  switch (message.type) {
    case event::MessageType::Commit:
    case event::MessageType::Sync:
      return process_commit(message, answers, skips_host, now);
    case event::MessageType::Account:
      return process_account(message, answers, skips_host);
    case event::MessageType::Identity:
      return process_identity(message, answers, skips_host);
    default:
      return Accept{};
  }
}

Outcome CommitProcessor::process_commit(event::DecodedFrame& message, Answers& answers,
                                        bool skips_host, Timestamp now) {
  verify::KnownRepository* repository = repository_of(message.did);
  if (repository == nullptr) {
    if (skips_host) return gap();
    return Ask{Ask::What::Repository};
  }
  verify::RepositoryState state = repository->state();
  // The host is asked because the #account message that says that the account is active again may
  // be missing.
  const bool asks_host = options_.has_hosts && !skips_host &&
                         contradicts_status(*repository, *message.rev) &&
                         (answers.asked_host || repository->may_ask_host(now));
  if (asks_host) state.active = true;
  const auto commit = verify::CommitVerifier::admit(message, state, now);
  if (!commit) return Drop{reason_of(commit.error())};
  const auto* key = repository->key() ? known_.parsed_key(*repository->key()) : nullptr;
  if (key == nullptr) {
    if (!answers.has_fresh_identity && repository->key_age(now) >= kUselessFor) {
      if (const auto ask = ask_identity(message.did, answers, skips_host, Freshness::Recent)) {
        return *ask;
      }
    }
    return answers.skipped_host ? gap() : Drop{verify::errc::no_did_document};
  }
  Accept accept;
  auto accepted = verifier_.verify(message, *commit, *key, state);
  if (!accepted && reason_of(accepted.error()) == verify::errc::wrong_signature) {
    // The key may have changed without a message, or this run lags and the commit was signed with a
    // former key.
    if (!answers.has_fresh_identity) {
      if (const auto ask = ask_identity(message.did, answers, skips_host, Freshness::Recent)) {
        return *ask;
      }
    }
    // Only the PLC directory keeps former keys.
    if (!answers.has_former_keys && atproto::is_plc_did(message.did) && options_.has_hosts) {
      return Ask{Ask::What::FormerKeys};
    }
    for (const atproto::Multikey& one : answers.former_keys) {
      const auto* former = known_.parsed_key(one);
      if (former == nullptr) continue;
      accepted = verifier_.verify(message, *commit, *former, state);
      accept.has_former_key = accepted.has_value();
      if (accepted || reason_of(accepted.error()) != verify::errc::wrong_signature) break;
    }
  }
  if (!accepted) {
    const verify::errc reason = reason_of(accepted.error());
    // The signature may be right, because the host may have a newer key.
    if (answers.skipped_host && reason == verify::errc::wrong_signature) return gap();
    return Drop{reason, verify::is_signed(reason)};
  }
  if (asks_host && !answers.asked_host) {
    repository->set_asked_host(now);
    return Ask{Ask::What::HostStatus};
  }
  if (asks_host && answers.host_status && answers.host_status->active) {
    repository->set_active(true);
    repository->set_hidden(std::nullopt);
    accept.is_active_again = true;
  } else if (!repository->active()) {
    return Drop{verify::errc::inactive_account};
  }
  accept.is_first = verify::is_first(accepted->continuity);
  // The message for which the handle was fetched was dropped, so the handle is requested again.
  if (accept.is_first && !answers.document_handle && !answers.has_fresh_identity) {
    if (const auto ask = ask_identity(message.did, answers, skips_host, Freshness::Known))
      return *ask;
  }
  if (repository->key_age(now) >= kKeyFreshFor) {
    repository->set_key(repository->key(), now);
    accept.wants_key = true;
  }
  repository->set_head(accepted->head);
  accept.is_verified = true;
  if (message.type == event::MessageType::Commit) accept.wants_resync = lacks_records(message);
  // While the account was not active, its commits were dropped, so a break shows missing commits.
  if (accept.is_active_again && accepted->continuity == verify::Continuity::Broken) {
    accept.wants_resync = true;
  }
  accept.continuity = accepted->continuity;
  accept.repository = row_of(message.did, *repository);
  return accept;
}

Outcome CommitProcessor::process_account(event::DecodedFrame& message, const Answers& answers,
                                         bool skips_host) {
  auto* change = change_in<event::AccountChange>(message);
  if (change == nullptr) return Accept{};
  verify::KnownRepository* repository = repository_of(message.did);
  if (repository == nullptr && !skips_host) return Ask{Ask::What::Repository};
  change->purge = is_deletion(*change);
  // The hosting status decides whether the account is hidden now. A run that lags still accepts
  // earlier commits of the account, because their signatures prove them.
  const bool counts = change->active || is_status_of_host(*change);
  Accept accept;
  if (!change->active && is_status_of_host(*change) && options_.has_hosts) {
    if (!answers.asked_host && !skips_host) return Ask{Ask::What::HostStatus};
    if (!answers.host_status) {
      // Without an answer nothing is purged, because an account that is hidden can come back, but a
      // purged record cannot.
      change->purge = false;
      accept.is_unsettled = true;
      accept.wants_resync = repository == nullptr || repository->state().head.has_value();
    } else if (answers.host_status->active) {
      return Stale{};
    } else {
      // A purge cannot be undone, so both the message and the host must say `deleted`.
      change->purge = change->purge && answers.host_status->status == "deleted";
      if (!answers.host_status->status.empty()) change->status = answers.host_status->status;
    }
  }
  if (repository != nullptr) {
    if (const auto head = repository->state().head) change->last_rev = head->rev;
    repository->set_active(counts);
    repository->set_hidden(change->active ? std::nullopt : std::optional(change->time));
    accept.repository = row_of(message.did, *repository);
  }
  return accept;
}

Outcome CommitProcessor::process_identity(event::DecodedFrame& message, Answers& answers,
                                          bool skips_host) {
  if (!answers.has_fresh_identity) {
    if (const auto ask = ask_identity(message.did, answers, skips_host, Freshness::Now))
      return *ask;
  }
  if (answers.is_tombstoned) return process_tombstone(message);
  auto* change = change_in<event::IdentityChange>(message);
  // The message is a claim of a host, so only the handle in the document counts.
  if (change != nullptr && answers.document_handle) change->handle = answers.document_handle;
  return Accept{};
}

Outcome CommitProcessor::process_tombstone(event::DecodedFrame& message) {
  event::AccountChange change;
  change.active = false;
  change.status = "deleted";
  change.time = message.time;
  change.purge = true;
  Accept accept;
  if (verify::KnownRepository* repository = repository_of(message.did)) {
    if (const auto head = repository->state().head) change.last_rev = head->rev;
    repository->set_hidden(change.time);
    accept.repository = row_of(message.did, *repository);
  }
  if (!message.events.empty()) message.events.front().body = std::move(change);
  return accept;
}

Outcome CommitProcessor::process_unverified(event::DecodedFrame& message, Timestamp now) {
  if (message.rev && verify::is_of_the_future(*message.rev, message.time, now)) {
    return Drop{verify::errc::future_rev};
  }
  if (auto* change = change_in<event::AccountChange>(message)) change->purge = is_deletion(*change);
  return Accept{};
}

verify::KnownRepository* CommitProcessor::repository_of(std::string_view did) {
  return known_.find(verify::DidHash::of(did));
}

void CommitProcessor::set_repository(const tables::RepositoryRow& row) {
  const auto did = verify::DidHash::of(row.did);
  if (known_.find(did) != nullptr) return;
  verify::KnownRepository repository;
  if (row.head) repository.set_head(*row.head);
  repository.set_active(row.active);
  repository.set_hidden(row.hidden_since);
  known_.put(did, repository);
}

void CommitProcessor::set_key(std::string_view did, const std::optional<atproto::Multikey>& key,
                              Timestamp now) {
  if (auto* repository = repository_of(did)) repository->set_key(key, now);
}

void CommitProcessor::set_identity(std::string_view did, const Result<documents::Account>& account,
                                   Freshness freshness, Timestamp now) {
  verify::KnownRepository* repository = repository_of(did);
  if (repository == nullptr) return;
  // If no key is known, a host that still fails after the last attempt counts as a host without a
  // key.
  const bool is_final = !repository->key() && freshness != Freshness::Now;
  // The failure of a server does not invalidate a known key.
  if (account) {
    repository->set_key(account->key, now);
  } else if (!documents::is_server_failure(account.error()) || is_final) {
    repository->set_key(std::nullopt, now);
  }
}

}  // namespace skua::pipeline
