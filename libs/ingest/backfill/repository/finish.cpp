#include "backfill/repository/finish.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "backfill/queue/job_outcomes.hpp"
#include "backfill/repository/finish.sql.hpp"
#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "event/resolved_event.hpp"
#include "ids/actor_ids.hpp"
#include "postgres/locks.hpp"
#include "postgres/outage.hpp"
#include "records/record.hpp"
#include "tables/repository_table.hpp"
#include "writer/account_locks.hpp"
#include "writer/effects.hpp"
#include "writer/handle_claims.hpp"
#include "writer/table_writer.hpp"

namespace skua::backfill {

namespace {

using postgres::column;
using writer::StoredRow;
using writer::TableWriter;
using Repositories = std::vector<const WrittenRepository*>;

/// The number of rows that one statement reads or removes.
constexpr std::size_t kPage = 5'000;
/// The time that the resync of a large repository has to finish after its minimum revision was
/// raised. After this time another resync is due.
constexpr std::chrono::minutes kFinishTime{30};

/// A row of finish_floors.
struct AccountFloor {
  AccountNumber actor_id;
  std::int64_t floor_rev;
};

std::int64_t int8_of(atproto::Tid rev) {
  return static_cast<std::int64_t>(rev.value);
}

void lock_accounts(postgres::Session& session, const Repositories& repositories) {
  std::vector<postgres::Lock> locks;
  for (const WrittenRepository* repository : repositories) {
    const std::vector<postgres::Lock> own = writer::locks_of_account(session, repository->did);
    locks.insert(locks.end(), own.begin(), own.end());
  }
  postgres::lock_xact(session, std::move(locks));
}

/// Moves repositories to `stale` if the minimum revision of their account is above the revision of
/// their CAR.
void drop_stale(postgres::Session& session, Repositories& repositories, Finished& finished) {
  boost::unordered_flat_map<AccountNumber, std::int64_t> floors;
  for (const auto& [actor_id, floor_rev] : session.query<AccountFloor>(
           sql::finish_floors, column(repositories, &WrittenRepository::actor_id))) {
    floors.emplace(actor_id, floor_rev);
  }
  std::erase_if(repositories, [&](const WrittenRepository* repository) {
    const auto floor = floors.find(repository->actor_id);
    if (floor == floors.end() || floor->second <= int8_of(repository->rev)) return false;
    finished.stale.push_back(repository->did);
    return true;
  });
}

void raise_floors(postgres::Session& session, const Repositories& repositories) {
  session.execute(sql::finish_raise, column(repositories, &WrittenRepository::actor_id),
                  column(repositories, &WrittenRepository::rev));
}

/// Ends the jobs. Repositories whose job has another owner or was cancelled are removed from
/// `repositories`.
void end_jobs(postgres::Session& session, Repositories& repositories,
              const std::string& lease_owner, Timestamp now, Finished& finished) {
  std::vector<FinishedJob> jobs;
  for (const WrittenRepository* repository : repositories) {
    jobs.push_back({repository->did, repository->rev, repository->records, repository->bytes});
  }
  finished.done = finish_jobs(session, jobs, lease_owner, now);
  std::erase_if(repositories, [&](const WrittenRepository* repository) {
    return !std::binary_search(finished.done.begin(), finished.done.end(), repository->did);
  });
}

/// Updates hosting statuses. A host that was asked provides only repositories of active accounts.
void write_statuses(postgres::Session& session, const Repositories& repositories, Timestamp now,
                    writer::Effects& effects) {
  Repositories requested;
  std::ranges::copy_if(repositories, std::back_inserter(requested), [](const auto* repository) {
    return repository->requested_at != Timestamp{};
  });
  const postgres::Array ids = column(requested, &WrittenRepository::actor_id);
  const postgres::Array times = column(requested, [](const WrittenRepository* repository) {
    return repository->requested_at - kClockDifference;
  });
  for (const auto actor_id : session.query<AccountNumber>(sql::finish_active, ids, times)) {
    effects.account_changed(actor_id, false);
  }
  std::vector<std::string> dids = session.query<std::string>(sql::finish_deleted, ids);
  std::sort(dids.begin(), dids.end());
  std::vector<tables::Gap> gaps;
  gaps.reserve(dids.size());
  for (std::string& did : dids) gaps.push_back({std::move(did)});
  tables::desynchronize(session, gaps, now + 2 * kClockDifference);
}

/// Marks the repositories as complete, and updates the hosting statuses and handle claims of their
/// accounts.
void write_accounts(postgres::Session& session, const Repositories& repositories, Timestamp now,
                    writer::Effects& effects) {
  std::vector<tables::WholeRepository> whole;
  std::vector<writer::HandleClaim> claims;
  for (const WrittenRepository* repository : repositories) {
    whole.push_back(
        {repository->did, {repository->rev, repository->data}, repository->filter_version});
    if (repository->handle.empty()) continue;
    // The stored document may be older than the repository, and the handle may have changed between
    // the two. The stream reports such a change later.
    Timestamp time = std::min(repository->rev.time(), now);
    if (repository->document_time != Timestamp{}) time = std::min(time, repository->document_time);
    claims.push_back({repository->actor_id, repository->handle, time});
  }
  std::sort(whole.begin(), whole.end(), [](const auto& a, const auto& b) { return a.did < b.did; });
  tables::resyncs_done(session, whole, now);
  write_statuses(session, repositories, now, effects);
  if (!claims.empty()) writer::write_handle_claims(session, claims, now, effects);
}

/// Whether the CAR may contain a record of this path. It may if it has the record, or if it is a
/// part of the repository that does not cover the path.
bool may_hold(const repo::RepositoryListing& listing, std::string_view path) {
  std::size_t first = 0;
  std::size_t last = listing.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (listing.at(middle).path < path) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first < listing.size() && listing.at(first).path == path) return true;
  return listing.has_gap_before(first);
}

std::size_t remove_rows(postgres::Session& session, const TableWriter& table, atproto::Tid rev,
                        const std::vector<StoredRow>& rows, Timestamp now,
                        writer::Effects& effects) {
  std::vector<event::ResolvedEvent> deletes(rows.size());
  std::vector<const event::ResolvedEvent*> pointers;
  pointers.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    event::RecordChange change;
    change.operation = event::Operation::Delete;
    change.rev = rev;
    deletes[i].event.body = std::move(change);
    deletes[i].actor_id = rows[i].key.actor_id;
    deletes[i].collection_id = rows[i].key.collection_id;
    deletes[i].rkey_number = rows[i].key.rkey;
    pointers.push_back(&deletes[i]);
  }
  return table.remove(session, pointers, now, effects);
}

/// Reads an account's rows that are older than its CAR, page by page, and calls `remove` with the
/// rows of each page that the CAR does not contain.
template <class F>
void for_absent(postgres::Session& session, const TableWriter& table,
                const WrittenRepository& repository, F&& remove) {
  std::optional<tables::RecordKey> last;
  for (;;) {
    std::vector<StoredRow> page =
        table.rows_before(session, repository.actor_id, int8_of(repository.rev), last, kPage);
    if (page.empty()) return;
    last = page.back().key;
    const bool is_last = page.size() < kPage;
    std::erase_if(page,
                  [&](const StoredRow& row) { return may_hold(*repository.listing, row.path); });
    if (!page.empty()) remove(page);
    if (is_last) return;
  }
}

template <class F>
void for_each_table(F&& f) {
  f(writer::records_table());
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const TableWriter* table = writer::table_of(id)) f(*table);
  }
}

Finished finish_small(postgres::Session& session, Repositories repositories,
                      const std::string& lease_owner, Timestamp now) {
  Finished finished;
  writer::Effects effects;
  postgres::Transaction transaction(session);
  lock_accounts(session, repositories);
  drop_stale(session, repositories, finished);
  end_jobs(session, repositories, lease_owner, now, finished);
  if (!repositories.empty()) {
    std::vector<AccountNumber> actors;
    std::vector<std::int64_t> revs;
    boost::unordered_flat_map<AccountNumber, const WrittenRepository*> by_actor;
    for (const WrittenRepository* repository : repositories) {
      actors.push_back(repository->actor_id);
      revs.push_back(int8_of(repository->rev));
      by_actor.emplace(repository->actor_id, repository);
    }
    for_each_table([&](const TableWriter& table) {
      for (const AccountNumber actor : table.actors_with_rows_before(session, actors, revs)) {
        const WrittenRepository& repository = *by_actor.at(actor);
        for_absent(session, table, repository, [&](const std::vector<StoredRow>& rows) {
          finished.removed += remove_rows(session, table, repository.rev, rows, now, effects);
        });
      }
    });
    raise_floors(session, repositories);
    write_accounts(session, repositories, now, effects);
  }
  effects.finish(session);
  crash_point("before_finish_commit");
  transaction.commit();
  crash_point("after_finish_commit");
  return finished;
}

Finished finish_large(postgres::Session& session, const WrittenRepository& repository,
                      const std::string& lease_owner, Timestamp now) {
  Finished finished;
  Repositories one{&repository};
  {
    postgres::Transaction transaction(session);
    lock_accounts(session, one);
    drop_stale(session, one, finished);
    if (one.empty()) return finished;
    raise_floors(session, one);
    tables::ask_for_resync(session, repository.did, now + kFinishTime);
    transaction.commit();
  }
  crash_point("after_floor_commit");
  // No further row becomes older than the CAR, because the minimum revision keeps events before the
  // revision of the CAR out of the tables.
  for_each_table([&](const TableWriter& table) {
    for_absent(session, table, repository, [&](const std::vector<StoredRow>& rows) {
      postgres::Transaction transaction(session);
      lock_accounts(session, one);
      writer::Effects effects;
      finished.removed += remove_rows(session, table, repository.rev, rows, now, effects);
      effects.finish(session);
      transaction.commit();
    });
  });
  postgres::Transaction transaction(session);
  end_jobs(session, one, lease_owner, now, finished);
  writer::Effects effects;
  if (!one.empty()) write_accounts(session, one, now, effects);
  effects.finish(session);
  crash_point("before_finish_commit");
  transaction.commit();
  crash_point("after_finish_commit");
  return finished;
}

/// The limits for small repositories that share a transaction. The transaction takes five locks for
/// each repository and reads its rows.
constexpr std::size_t kTogether = 100;
constexpr std::size_t kRecordsTogether = kLargeRepository;
constexpr std::chrono::milliseconds kIdle{200};
/// The time that ready repositories wait for others, to share the cost of the transaction.
constexpr std::chrono::milliseconds kLinger{250};
constexpr std::chrono::milliseconds kRetryPause{1'000};

std::size_t records_of(const UnfinishedRepository& repository) {
  return repository.listing.size();
}

/// Ends the job with a failure. The failure is final for a file, because a file does not change.
void fail(const UnfinishedRepository& repository, std::string reason) {
  repository.ended(
      JobFailed{.reason = std::move(reason), .is_final = repository.fetched.job.file.has_value()});
}

}  // namespace

Finished finish_repositories(postgres::Session& session,
                             std::span<const WrittenRepository> repositories,
                             const std::string& lease_owner, Timestamp now) {
  if (repositories.size() == 1 && repositories.front().records >= std::int64_t{kLargeRepository}) {
    return finish_large(session, repositories.front(), lease_owner, now);
  }
  Repositories all;
  for (const WrittenRepository& repository : repositories) all.push_back(&repository);
  return finish_small(session, std::move(all), lease_owner, now);
}

Finisher::Finisher(postgres::Runtime& runtime, std::string lease_owner,
                   UnfinishedRepositories& unfinished, ids::SharedIds& ids,
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
    } catch (const postgres::DataError& error) {
      if (batch.size() == 1) return fail(*batch.front(), error.what());
      for (std::size_t i = 0; i < batch.size(); ++i) finish(batch.subspan(i, 1), stop);
      return;
    } catch (const postgres::ServerError& error) {
      postgres::log_retry("backfill", "repositories cannot be finished", error);
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
    session_ = std::make_unique<postgres::Session>(runtime_.database_url, "skua backfill finish");
  }
  std::vector<std::string_view> dids;
  for (const auto& repository : batch) dids.push_back(repository->fetched.job.did);
  std::sort(dids.begin(), dids.end());
  std::vector<std::string_view> missing;
  for (const std::string_view did : dids) {
    if (ids_.actors.find(did) == 0) missing.push_back(did);
  }
  const ids::ActorIds found =
      ids::find_or_insert_actors(*session_, ids_.actors, ids_.claims, ids_.numbers, missing,
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
