#include "ingest/repository_lookup.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "store/outage.hpp"

namespace skua::ingest {

RepositoryLookup::RepositoryLookup(accounts::AccountSource& accounts, const PendingHeads* heads,
                                   Options options)
    : accounts_(accounts),
      heads_(heads),
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

void RepositoryLookup::find(const std::string& did, Done done, RowFound row_found) {
  const std::scoped_lock lock(mutex_);
  wanted_.push_back({did, std::move(done), std::move(row_found)});
  filled_.notify_one();
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
  while (!stop.stop_requested()) {
    std::vector<Wanted> wanted;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, stop, [&] { return !wanted_.empty(); });
      wanted = std::exchange(wanted_, {});
    }
    if (!wanted.empty()) look_up(std::move(wanted), stop);
  }
}

void RepositoryLookup::look_up(std::vector<Wanted> wanted, const std::stop_token& stop) {
  std::map<std::string, store::RepositoryRow> rows;
  if (heads_ != nullptr) {
    // First what is about to be stored: what leaves that list meanwhile is stored when it is
    // loaded.
    std::vector<std::string> to_load;
    for (const auto& one : wanted) {
      if (auto newest = heads_->newest(one.did)) {
        rows.insert_or_assign(one.did, *std::move(newest));
      } else {
        to_load.push_back(one.did);
      }
    }
    for (auto& row : load(std::move(to_load), stop)) {
      std::string did = row.did;
      rows.insert_or_assign(std::move(did), std::move(row));
    }
    if (stop.stop_requested()) return;
  }
  for (Wanted& one : wanted) {
    store::RepositoryRow row{one.did, std::nullopt, true};
    if (const auto place = rows.find(one.did); place != rows.end()) row = place->second;
    if (one.row_found) one.row_found(row);
    accounts_.identity(one.did, accounts::AccountSource::Freshness::Known,
                       [row = std::move(row), done = std::move(one.done)](
                           Result<accounts::AccountIdentity> identity) mutable {
                         done({std::move(row), std::move(identity)});
                       });
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
      store::log_retry("verify", "repositories cannot be looked up", error);
    }
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, stop, options_.database_pause, [] { return false; });
  }
  return {};
}

}  // namespace skua::ingest
