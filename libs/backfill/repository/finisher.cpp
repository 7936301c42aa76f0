#include "backfill/repository/finisher.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "resolve/actor_ids.hpp"
#include "store/outage.hpp"

namespace skua::backfill {
namespace {

/// Small repositories in one transaction, which locks five times for each and reads their rows.
constexpr std::size_t kTogether = 100;
constexpr std::size_t kRecordsTogether = kLargeRepository;
constexpr std::chrono::milliseconds kIdle{200};
/// How long ready repositories wait for others, to share the cost of the transaction.
constexpr std::chrono::milliseconds kLinger{250};
constexpr std::chrono::milliseconds kRetryPause{1'000};

std::size_t records_of(const UnfinishedRepository& repository) {
  return repository.listing.size();
}

/// A file is not tried again.
void fail(const UnfinishedRepository& repository, std::string reason) {
  repository.ended(
      JobFailed{.reason = std::move(reason), .is_final = repository.fetched.job.file.has_value()});
}

}  // namespace

Finisher::Finisher(store::Runtime& runtime, std::string lease_owner,
                   UnfinishedRepositories& unfinished, resolve::SharedIds& ids,
                   BackfillCounters& counters)
    : runtime_(runtime),
      lease_owner_(std::move(lease_owner)),
      unfinished_(unfinished),
      ids_(ids),
      counters_(counters),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Finisher::~Finisher() {
  stop();
}

void Finisher::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Finisher::run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      const Batch ready = unfinished_.take_ready(kTogether, kIdle, kLinger, stop);
      std::span<const std::unique_ptr<UnfinishedRepository>> rest(ready);
      while (!rest.empty()) {
        std::size_t size = 0;
        std::size_t records = 0;
        while (size < rest.size() &&
               (size == 0 || records + records_of(*rest[size]) < kRecordsTogether)) {
          records += records_of(*rest[size]);
          ++size;
        }
        finish(rest.first(size), stop);
        if (stop.stop_requested()) return;
        rest = rest.subspan(size);
      }
    }
  } catch (const std::exception& error) {
    runtime_.fatal(std::string("finishing repositories: ") + error.what());
  }
}

void Finisher::finish(std::span<const std::unique_ptr<UnfinishedRepository>> batch,
                      const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      return finish_once(batch);
    } catch (const store::DataError& error) {
      if (batch.size() == 1) return fail(*batch.front(), error.what());
      for (std::size_t i = 0; i < batch.size(); ++i) finish(batch.subspan(i, 1), stop);
      return;
    } catch (const store::ServerError& error) {
      store::log_retry("backfill", "repositories cannot be finished", error);
      session_.reset();
      std::mutex mutex;
      std::condition_variable_any pause;
      std::unique_lock lock(mutex);
      pause.wait_for(lock, stop, kRetryPause, [] { return false; });
    }
  }
}

void Finisher::finish_once(std::span<const std::unique_ptr<UnfinishedRepository>> batch) {
  if (!session_) {
    session_ = std::make_unique<store::Session>(runtime_.database_url, "skua backfill finish");
  }
  std::vector<std::string_view> dids;
  for (const auto& repository : batch) dids.push_back(repository->fetched.job.did);
  std::sort(dids.begin(), dids.end());
  std::vector<std::string_view> missing;
  for (const std::string_view did : dids) {
    if (ids_.actors.find(did) == 0) missing.push_back(did);
  }
  const resolve::ActorIds found =
      resolve::find_or_insert_actors(*session_, ids_.actors, ids_.claims, ids_.numbers, missing,
                                     runtime_.clocks.server.now())
          .ids;
  std::vector<WrittenRepository> written;
  for (const auto& repository : batch) {
    const FetchedRepository& fetched = repository->fetched;
    WrittenRepository& one = written.emplace_back();
    one.did = fetched.job.did;
    const auto place = found.find(one.did);
    one.actor_id = place == found.end() ? ids_.actors.find(one.did) : place->second;
    one.rev = *repository->listing.commit().rev;
    one.data = repository->listing.commit().data;
    if (fetched.account) {
      one.handle = fetched.account->handle;
      one.document_time = fetched.account->fetched_at;
    }
    one.requested_at = fetched.requested_at;
    one.records = static_cast<std::int64_t>(repository->listing.size());
    one.bytes = static_cast<std::int64_t>(fetched.car.size());
    one.filter_version = fetched.filter_version;
    one.listing = &repository->listing;
  }
  const Finished finished =
      finish_repositories(*session_, written, lease_owner_, runtime_.clocks.server.now());
  counters_.repositories += finished.done.size();
  counters_.removed += finished.removed;
  for (const auto& repository : batch) {
    const auto is_in = [&](const std::vector<std::string>& some) {
      return std::find(some.begin(), some.end(), repository->fetched.job.did) != some.end();
    };
    if (is_in(finished.stale)) {
      fail(*repository, "stale: the account is known at a newer revision than the CAR's");
    } else if (is_in(finished.done)) {
      repository->ended(JobDone{});
    } else {
      repository->ended(JobLost{});
    }
  }
}

}  // namespace skua::backfill
