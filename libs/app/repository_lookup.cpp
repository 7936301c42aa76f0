#include "app/repository_lookup.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "base/log.hpp"
#include "identity/errc.hpp"

namespace skua::app {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// The host of one did:web account may be gone for good, and must not hold up all others.
constexpr int kWebAttempts = 3;

/// One directory serves all of did:plc: when it fails, waiting loses nothing.
bool is_worth_waiting(const std::string& did, int attempts) {
  return did.starts_with("did:plc:") || attempts < kWebAttempts;
}

}  // namespace

RepositoryLookup::RepositoryLookup(AccountSource& accounts, const ChainLog* chain, Options options)
    : accounts_(accounts),
      chain_(chain),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

RepositoryLookup::~RepositoryLookup() {
  stop();
}

void RepositoryLookup::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void RepositoryLookup::find(const std::string& did, Done done) {
  const std::scoped_lock lock(inbox_->mutex);
  inbox_->wanted.push_back(std::make_shared<Wanted>(Wanted{did, std::move(done)}));
  inbox_->filled.notify_one();
}

void RepositoryLookup::run(const std::stop_token& stop) {
  try {
    find_all(stop);
  } catch (const std::exception& error) {
    // A wrong statement of ours, or memory that ran out: going on would only hide it.
    options_.on_defect(std::string("repositories cannot be looked up: ") + error.what());
  }
}

void RepositoryLookup::find_all(const std::stop_token& stop) {
  std::vector<std::shared_ptr<Wanted>> wanted;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(inbox_->mutex);
      inbox_->filled.wait(lock, stop,
                          [&] { return !inbox_->wanted.empty() || !inbox_->later.empty(); });
      if (inbox_->wanted.empty() && !inbox_->later.empty()) {
        // All wait equally long, so that nothing comes before the first.
        inbox_->filled.wait_until(lock, stop, inbox_->later.top().at,
                                  [&] { return !inbox_->wanted.empty(); });
      }
      wanted = std::exchange(inbox_->wanted, {});
      const auto now = SteadyClock::now();
      while (!inbox_->later.empty() && inbox_->later.top().at <= now) {
        wanted.push_back(inbox_->later.top().wanted);
        inbox_->later.pop();
      }
    }
    if (!wanted.empty()) look_up(wanted, stop);
    wanted.clear();
  }
}

void RepositoryLookup::look_up(const std::vector<std::shared_ptr<Wanted>>& wanted,
                               const std::stop_token& stop) {
  std::map<std::string, store::RepositoryRow> rows;
  if (chain_ != nullptr) {
    // First what is about to be stored: what leaves that list meanwhile is stored when it is
    // loaded.
    std::vector<std::string> to_load;
    for (const auto& one : wanted) {
      if (auto newest = chain_->newest(one->did)) {
        rows.insert_or_assign(one->did, *std::move(newest));
      } else {
        to_load.push_back(one->did);
      }
    }
    for (auto& row : load(std::move(to_load), stop)) {
      std::string did = row.did;
      rows.insert_or_assign(std::move(did), std::move(row));
    }
    if (stop.stop_requested()) return;
  }
  for (const auto& one : wanted) {
    const auto place = rows.find(one->did);
    ask(place != rows.end() ? place->second : store::RepositoryRow{one->did, std::nullopt, true},
        one);
  }
}

std::vector<store::RepositoryRow> RepositoryLookup::load(std::vector<std::string> dids,
                                                         const std::stop_token& stop) {
  while (!dids.empty() && !stop.stop_requested()) {
    try {
      if (!session_ || !session_->connected()) {
        session_ = std::make_unique<store::Session>(options_.database_url, "skua repositories");
      }
      return store::load_repositories(*session_, dids);
    } catch (const store::ServerError& error) {
      session_.reset();
      logger("verify")->warn("repositories cannot be looked up, trying again: {}", error.what());
    }
    std::unique_lock lock(inbox_->mutex);
    inbox_->filled.wait_for(lock, stop, options_.database_pause, [] { return false; });
  }
  return {};
}

void RepositoryLookup::ask(store::RepositoryRow row, std::shared_ptr<Wanted> wanted) {
  const std::string did = wanted->did;
  accounts_.identity(did, AccountSource::Freshness::Known,
                     [inbox = inbox_, pause = options_.server_pause, row = std::move(row),
                      wanted = std::move(wanted)](Result<AccountIdentity> identity) mutable {
                       ++wanted->attempts;
                       if (!identity && identity::is_server_failure(identity.error()) &&
                           is_worth_waiting(wanted->did, wanted->attempts)) {
                         const std::scoped_lock lock(inbox->mutex);
                         inbox->later.push({SteadyClock::now() + pause, wanted});
                         inbox->filled.notify_one();
                         return;
                       }
                       wanted->done({std::move(row), std::move(identity)});
                     });
}

}  // namespace skua::app
