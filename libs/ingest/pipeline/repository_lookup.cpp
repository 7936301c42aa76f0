#include "pipeline/repository_lookup.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <utility>

namespace skua::pipeline {
namespace {

constexpr std::chrono::hours kUntilNotified{1};

}  // namespace

RepositoryLookup::RepositoryLookup(postgres::Runtime& runtime, accounts::AccountSource& accounts,
                                   const PendingHeads* heads,
                                   std::chrono::milliseconds database_pause)
    : accounts_(accounts),
      heads_(heads),
      thread_(runtime,
              {.session_name = "skua repositories",
               .component = "verify",
               .failure = "repositories cannot be looked up",
               .retry_pause = database_pause},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                look_up(session);
                return kUntilNotified;
              }) {
  thread_.start();
}

void RepositoryLookup::find(const std::string& did, Done done, RowFound row_found) {
  {
    const std::scoped_lock lock(mutex_);
    wanted_.push_back({did, std::move(done), std::move(row_found)});
  }
  thread_.notify();
}

void RepositoryLookup::look_up(postgres::LazySession& session) {
  {
    const std::scoped_lock lock(mutex_);
    std::move(wanted_.begin(), wanted_.end(), std::back_inserter(taken_));
    wanted_.clear();
  }
  std::map<std::string, tables::RepositoryRow> rows;
  if (heads_ != nullptr) {
    // The heads that are about to be stored are read before the database. A head that leaves that
    // list after this read is already stored when the other heads are loaded.
    std::vector<std::string> to_load;
    for (const Wanted& one : taken_) {
      if (auto newest = heads_->newest(one.did)) {
        rows.insert_or_assign(one.did, *std::move(newest));
      } else {
        to_load.push_back(one.did);
      }
    }
    if (!to_load.empty()) {
      for (auto& row : tables::load_repositories(session.get(), to_load)) {
        std::string did = row.did;
        rows.insert_or_assign(std::move(did), std::move(row));
      }
    }
  }
  for (Wanted& one : std::exchange(taken_, {})) {
    tables::RepositoryRow row{one.did, std::nullopt, true};
    if (const auto place = rows.find(one.did); place != rows.end()) row = place->second;
    if (one.row_found) one.row_found(row);
    accounts_.identity(one.did, accounts::AccountSource::Freshness::Known,
                       [row = std::move(row),
                        done = std::move(one.done)](Result<documents::Account> account) mutable {
                         done({std::move(row), std::move(account)});
                       });
  }
}

}  // namespace skua::pipeline
