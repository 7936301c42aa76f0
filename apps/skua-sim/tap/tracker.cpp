#include "tap/tracker.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "repo/errc.hpp"
#include "repo/repository_listing.hpp"
#include "tap/tap_json.hpp"

namespace skua::sim {

namespace {

constexpr std::string_view action_name(event::Operation operation) {
  switch (operation) {
    case event::Operation::Create:
      return "create";
    case event::Operation::Update:
      return "update";
    case event::Operation::Delete:
      break;
  }
  return "delete";
}

}  // namespace

std::string_view state_name(TapRepo::State state) {
  switch (state) {
    case TapRepo::State::pending:
      return "pending";
    case TapRepo::State::desynchronized:
      return "desynchronized";
    case TapRepo::State::active:
      return "active";
    case TapRepo::State::error:
      break;
  }
  return "error";
}

TapTracker::TapTracker(const Network& network, TapOutbox& outbox, bool full_network)
    : network_(network), outbox_(outbox), full_network_(full_network) {
  if (!full_network_) return;
  for (const auto& did : network.dids()) track(did);
}

void TapTracker::track(const std::string& did) {
  const auto [place, is_new] = repos_.try_emplace(did);
  if (is_new) resyncs_.push_back(did);
}

void TapTracker::untrack(const std::string& did) {
  repos_.erase(did);
  outbox_.forget(did);
}

const TapRepo* TapTracker::repo(std::string_view did) const {
  const auto found = repos_.find(did);
  return found == repos_.end() ? nullptr : &found->second;
}

std::size_t TapTracker::records() const {
  std::size_t count = 0;
  for (const auto& [did, repo] : repos_) count += repo.records.size();
  return count;
}

void TapTracker::hear(std::size_t host, const Message& message, TimePoint now) {
  if (!message.honest || message.did.empty()) return;
  const auto account = network_.account(message.did);
  if (!account || account->host != host) return;
  const auto found = repos_.find(message.did);
  if (found == repos_.end()) {
    if (full_network_ && account->status != AccountStatus::deleted) track(message.did);
    return;
  }
  const auto bytes = numbered(message, 1);
  event::DecodedFrame frame;
  if (!decoder_.decode(bytes, frame)) return;
  TapRepo& repo = found->second;
  switch (frame.type) {
    case event::MessageType::Commit:
      return hear_commit(repo, frame, now);
    case event::MessageType::Sync:
      return hear_sync(repo, frame);
    case event::MessageType::Identity:
      return refresh_identity(message.did, repo, now);
    case event::MessageType::Account:
      return hear_account(repo, frame, now);
    default:
      return;
  }
}

void TapTracker::hear_commit(TapRepo& repo, event::DecodedFrame& frame, TimePoint now) {
  if (repo.state != TapRepo::State::active || !frame.rev) return;
  const auto rev = frame.rev->to_string();
  if (rev <= repo.rev) return;
  if (lose_next_ > 0 && repo.to_lose == 0) repo.to_lose = std::exchange(lose_next_, 0);
  if (repo.to_lose > 0) {
    if (--repo.to_lose > 0) return;
    repo.send_all = true;
    return want_resync(frame.did, repo, TapRepo::State::desynchronized);
  }
  if (frame.claim.since && *frame.claim.since != repo.rev) {
    return want_resync(frame.did, repo, TapRepo::State::desynchronized);
  }
  tell_commit(repo, frame, now);
  repo.rev = rev;
}

void TapTracker::tell_commit(TapRepo& repo, event::DecodedFrame& frame, TimePoint now) {
  event::fold_commit(frame.events);
  const auto rev = frame.rev->to_string();
  for (const auto& event : frame.events) {
    TapRecord record{
        .live = true, .did = frame.did, .rev = rev, .path = {}, .action = {}, .cid = {}};
    std::string path;
    if (const auto* change = std::get_if<event::RecordChange>(&event.body)) {
      path = change->collection + "/" + change->rkey;
      record.action = action_name(change->operation);
      record.cid = change->cid;
      record.block = change->block;
    } else if (const auto* rejection = std::get_if<event::Rejection>(&event.body)) {
      const auto claim = std::ranges::find(frame.claim.ops, rejection->what, &event::OpClaim::path);
      if (claim == frame.claim.ops.end()) continue;
      path = claim->path;
      record.action = action_name(claim->operation);
      record.cid = claim->cid;
    }
    if (path.find('/') == std::string::npos) continue;
    record.path = path;
    if (record.cid) {
      repo.records.insert_or_assign(path, *record.cid);
    } else {
      repo.records.erase(path);
    }
    const bool odd = std::exchange(odd_fields_next_, false);
    outbox_.add({frame.did, true, tap_record_json(record, scratch_, odd)}, now);
  }
}

void TapTracker::hear_sync(TapRepo& repo, const event::DecodedFrame& frame) {
  if (repo.state != TapRepo::State::active || !frame.rev) return;
  if (frame.rev->to_string() > repo.rev) {
    want_resync(frame.did, repo, TapRepo::State::desynchronized);
  }
}

void TapTracker::refresh_identity(const std::string& did, TapRepo& repo, TimePoint now) {
  const auto account = network_.account(did);
  if (!account) return;
  const std::string handle = account->handle_valid ? account->handle : "handle.invalid";
  if (handle == repo.handle) return;
  repo.handle = handle;
  tell_identity(did, repo, now);
}

void TapTracker::tell_identity(const std::string& did, const TapRepo& repo, TimePoint now) {
  // The identity event is not live, because Tap sends it in parallel with the account's history.
  outbox_.add({did, false, tap_identity_json({did, repo.handle, repo.status})}, now);
}

void TapTracker::hear_account(TapRepo& repo, const event::DecodedFrame& frame, TimePoint now) {
  if (frame.events.empty()) return;
  const auto* const change = std::get_if<event::AccountChange>(&frame.events.front().body);
  if (change == nullptr) return;
  const std::string status = change->active ? "active" : change->status;
  constexpr std::array<std::string_view, 5> kKnown = {"active", "deactivated", "suspended",
                                                      "takendown", "deleted"};
  if (status == "active" && repo.state == TapRepo::State::error) {
    want_resync(frame.did, repo, TapRepo::State::pending);
  }
  if (status == repo.status || std::ranges::find(kKnown, status) == kKnown.end()) return;
  repo.status = status;
  tell_identity(frame.did, repo, now);
  if (status == "deleted") repos_.erase(frame.did);
}

void TapTracker::want_resync(const std::string& did, TapRepo& repo, TapRepo::State state) {
  repo.state = state;
  repo.to_lose = 0;
  resyncs_.push_back(did);
}

bool TapTracker::resync(const std::string& did, bool all) {
  const auto found = repos_.find(did);
  if (found == repos_.end()) return false;
  found->second.send_all = all;
  want_resync(did, found->second, TapRepo::State::desynchronized);
  return true;
}

void TapTracker::resync_lost() {
  lose_next_ = 0;
  for (auto& [did, repo] : repos_) {
    if (repo.to_lose == 0) continue;
    repo.send_all = true;
    want_resync(did, repo, TapRepo::State::desynchronized);
  }
}

void TapTracker::resync_next(TimePoint now) {
  const auto did = resyncs_.front();
  resyncs_.pop_front();
  const auto found = repos_.find(did);
  // The repository may have been removed, or be in the list twice.
  if (found == repos_.end() || found->second.state == TapRepo::State::active) return;
  TapRepo& repo = found->second;
  refresh_identity(did, repo, now);
  const auto account = network_.account(did);
  if (!account || account->status != AccountStatus::active) {
    repo.state = TapRepo::State::error;
    repo.error = "failed to get repo: not active";
    ++repo.retries;
    return;
  }
  tell_repository(did, repo, now);
}

void TapTracker::tell_repository(const std::string& did, TapRepo& repo, TimePoint now) {
  const auto car = network_.repository(did, "");
  const auto listing =
      car ? repo::RepositoryListing::open(*car)
          : Result<repo::RepositoryListing>(make_error_code(repo::errc::car_not_a_repository));
  if (!listing || !listing->commit().rev) {
    repo.state = TapRepo::State::error;
    repo.error = "failed to read repo from CAR";
    return;
  }
  const auto rev = listing->commit().rev->to_string();
  for (std::size_t i = 0; i < listing->size(); ++i) {
    const auto listed = listing->at(i);
    const auto known = repo.records.find(listed.path);
    const bool is_new = known == repo.records.end();
    if (!is_new && known->second == listed.cid && !repo.send_all) continue;
    const TapRecord record{.live = false,
                           .did = did,
                           .rev = rev,
                           .path = listed.path,
                           .action = is_new ? "create" : "update",
                           .cid = listed.cid,
                           .block = listed.block};
    outbox_.add({did, false, tap_record_json(record, scratch_)}, now);
    repo.records.insert_or_assign(std::string(listed.path), listed.cid);
  }
  // Deleted records stay in the list as in Tap, which does not learn of deletes during a resync.
  repo.rev = rev;
  repo.error.clear();
  repo.retries = 0;
  repo.send_all = false;
  repo.state = TapRepo::State::active;
}

// The following functions make events that no honest Tap sends.

const std::pair<const std::string, TapRepo>* TapTracker::some_repo() {
  if (repos_.empty()) return nullptr;
  const auto first = said_++ % repos_.size();
  auto place = std::next(repos_.begin(), static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = 0; i < repos_.size(); ++i) {
    if (place->second.state == TapRepo::State::active && place->second.status == "active") {
      return &*place;
    }
    if (++place == repos_.end()) place = repos_.begin();
  }
  return nullptr;
}

bool TapTracker::say_record(const std::string& record_json, std::string_view cid, TimePoint now) {
  const auto* const repo = some_repo();
  if (repo == nullptr) return false;
  // The record has a separate key, so that no honest record is affected.
  auto body = fmt::format(
      R"("type":"record","record":{{"live":true,"did":"{}","rev":"{}","collection":"app.bsky.feed.post","rkey":"odd-{}","action":"create")",
      repo->first, repo->second.rev, said_);
  if (!record_json.empty()) body += R"(,"record":)" + record_json;
  body += fmt::format(R"(,"cid":"{}"}})", cid);
  outbox_.add({repo->first, true, std::move(body)}, now);
  return true;
}

bool TapTracker::say_unknown(TimePoint now) {
  const auto* const repo = some_repo();
  if (repo == nullptr) return false;
  outbox_.add({repo->first, true,
               fmt::format(R"("type":"label","label":{{"did":"{}","val":"odd"}})", repo->first)},
              now);
  odd_fields_next_ = true;
  return true;
}

bool TapTracker::say_poison(TimePoint now) {
  constexpr std::string_view kBefore = R"({"$type":"app.bsky.feed.post","text":"poison","x":)";
  const std::array<std::string, 5> kinds = {
      std::string(kBefore) + R"({"$link":"no cid"}})",
      std::string(kBefore) + "1180591620717411303424}",
      std::string(kBefore) + std::string(300, '[') + std::string(300, ']') + "}",
      R"(["a record that is a list"])", std::string(kBefore) + R"({"$bytes":"%%%"}})"};
  const auto cid = atproto::Cid::of(as_bytes("poison")).to_string();
  return say_record(kinds.at(said_ % kinds.size()), cid, now);
}

bool TapTracker::say_no_record(TimePoint now) {
  return say_record("", atproto::Cid::of(as_bytes("not decoded")).to_string(), now);
}

}  // namespace skua::sim
