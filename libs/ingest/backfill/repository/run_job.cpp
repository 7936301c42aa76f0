#include "backfill/repository/run_job.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "atproto/signing.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/repository/download.hpp"
#include "backfill/repository/job_task.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "documents/errc.hpp"
#include "documents/host_status.hpp"
#include "event/repository_chunks.hpp"
#include "repo/repository_listing.hpp"
#include "tables/account_groups.hpp"
#include "verify/commit_verifier.hpp"

namespace skua::backfill {

namespace {

using Extent = repo::RepositoryListing::Extent;

/// Returns the reason why the commit is refused, or an empty text if it is correct.
std::string commit_failure(const FetchedRepository& fetched, const repo::Commit& commit,
                           Timestamp now) {
  if (commit.did != fetched.job.did) {
    return fmt::format("the CAR is the repository of another account, {}", commit.did);
  }
  if (!commit.rev) {
    return "the repository is of version 2 of the format, which has no revisions: its host must "
           "bring it up to date";
  }
  if (commit.rev->time() > now + verify::kFuture) {
    return fmt::format("the repository's revision, {}, is from the future",
                       commit.rev->to_string());
  }
  if (fetched.known && *commit.rev < *fetched.known) {
    return fmt::format(
        "stale: the CAR is of revision {}, and the account is known at {} already; records that "
        "were deleted in between would come back",
        commit.rev->to_string(), fetched.known->to_string());
  }
  return {};
}

/// The number of bytes of records after which the memory of a mapped CAR is released.
constexpr std::size_t kMappedBytes = std::size_t{32} << 20;

/// Leaves out the records that do not pass the filter, and old records. A path without a collection
/// passes, so that it becomes a dead letter.
event::ChunkOptions chunk_options(const std::shared_ptr<const tables::Filter>& filter,
                                  std::uint32_t origin, Timestamp now) {
  event::ChunkOptions options;
  options.origin = origin;
  if (filter && !filter->passes_all_records()) {
    options.leave_out_decoded = [filter, now](const event::RecordChange& change) {
      return filter->is_expired(change.collection, records::created_at(change.record.record), now);
    };
    options.leave_out = [filter](const repo::ListedRecord& record) {
      const auto slash = record.path.find('/');
      return slash != record.path.npos && !filter->passes_collection(record.path.substr(0, slash));
    };
  }
  return options;
}

using SteadyClock = std::chrono::steady_clock;
using AccountAwaiter = CallbackAwaiter<Result<documents::Account>>;
using AnswerAwaiter = CallbackAwaiter<Result<transport::HttpAnswer>>;

AccountAwaiter look_up_account(const JobServices& services, TaskQueue& tasks,
                               const std::string& did, bool fresh) {
  return AccountAwaiter(tasks,
                        [&find = services.find_account, did, fresh](AccountAwaiter::Done done) {
                          find(did, fresh, std::move(done));
                        });
}

AnswerAwaiter get_repository(const JobServices& services, TaskQueue& tasks,
                             const FetchedRepository& fetched,
                             const std::shared_ptr<HeldCar>& held) {
  return AnswerAwaiter(
      tasks,
      [&http = services.http, request = repository_request(services, fetched, held)](
          AnswerAwaiter::Done done) mutable { http.send(std::move(request), std::move(done)); });
}

JobEnd end_without_account(const JobServices& services, const std::string& did,
                           const ErrorCode& error) {
  if (is_stop(error)) return JobStopped{};
  std::string reason =
      "the account's key cannot be had: " +
      (services.account_failure ? services.account_failure(did, error) : error.message());
  if (error == documents::errc::did_not_found) return JobUnavailable{std::move(reason)};
  if (error == documents::errc::did_tombstoned)
    return JobUnavailable{std::move(reason), true, true};
  return JobFailed{std::move(reason)};
}

/// Returns a failure that does not concern the host. It is final for a file, because a file does
/// not change.
JobFailed failed_job(const Job& job, std::string reason) {
  return {.reason = std::move(reason), .is_final = job.file.has_value()};
}

}  // namespace

RepositoryCheck check_repository(const FetchedRepository& fetched, Timestamp now) {
  auto listing = repo::RepositoryListing::open(fetched.car,
                                               fetched.is_partial ? Extent::Since : Extent::Whole);
  if (!listing) return {.failure = "the CAR cannot be used: " + listing.error().message()};
  const repo::Commit& commit = listing->commit();
  if (std::string wrong = commit_failure(fetched, commit, now); !wrong.empty()) {
    return {.failure = std::move(wrong)};
  }
  if (fetched.account) {
    if (!fetched.account->key) {
      return {.failure = "the account's document has no usable #atproto key",
              .has_other_key = true};
    }
    const auto verified = atproto::verify_signature(
        *fetched.account->key, repo::unsigned_commit_bytes(commit), commit.signature);
    if (!verified) {
      return {.failure = "the repository is not signed by its account's key: " +
                         verified.error().message(),
              .has_other_key = true};
    }
  }
  return {.listing = *std::move(listing)};
}

bool write_chunks(const JobServices& services, const UnfinishedRepository& repository,
                  UnfinishedRepositories::Id id) {
  const FetchedRepository& fetched = repository.fetched;
  const std::stop_token stop = services.readers.stop_token();
  event::RepositoryChunks chunks(
      repository.listing, fetched.job.did, *repository.listing.commit().rev, id,
      chunk_options(fetched.filter, services.origin, services.clock.now()));
  std::size_t mapped = fetched.car.size();
  while (auto chunk = chunks.next()) {
    chunk->lease_number = fetched.job.lease_number;
    mapped += chunk->bytes;
    if (fetched.mapped != nullptr && mapped > kMappedBytes) {
      fetched.mapped->let_go();
      mapped = 0;
    }
    if (!services.unfinished.add_chunk(id, chunk->bytes, stop)) return false;
    services.push_chunk(*std::move(chunk));
  }
  return true;
}

JobTask run_job(const JobServices& services, Scheduler& scheduler, TaskQueue& tasks,
                LeasedJob leased) {
  FetchedRepository fetched{std::move(leased)};
  const Job job = fetched.job;
  if (fetched.filter && fetched.filter->excludes(job.did)) {
    if (job.host) scheduler.release_slot(fetched, {{.end = HostOutcome::End::Ours}});
    co_return JobUnavailable{"the account is excluded (skua filter)"};
  }
  if (fetched.is_foreign) {
    if (job.host) scheduler.release_slot(fetched, {{.end = HostOutcome::End::Ours}});
    co_return JobFailed{.reason = "the account is of " + tables::foreign_text(job.did),
                        .is_final = true};
  }

  // Step 1: resolve the document of the account.
  const bool has_place = job.host || job.file;
  if (services.find_account && (services.verify || !has_place)) {
    AccountAwaiter look_up = look_up_account(services, tasks, job.did, false);
    Result<documents::Account> found = co_await look_up;
    if (!found) {
      if (job.host) scheduler.release_slot(fetched, {{.end = HostOutcome::End::Ours}});
      co_return end_without_account(services, job.did, found.error());
    }
    fetched.account = *std::move(found);
  }
  if (!has_place) {
    if (fetched.account->pds.empty()) {
      co_return JobFailed{"the account's document names no PDS"};
    }
    co_return JobMoved{fetched.account->pds};
  }

  // Step 2: download the repository.
  if (job.file) {
    const std::shared_ptr<HeldCar> held = held_car(services, {});
    std::string reason = map_car_file(fetched, held);
    if (!reason.empty()) co_return failed_job(job, std::move(reason));
  } else {
    // The document decides which host an account has, even if a list names another host.
    if (fetched.account && !fetched.account->pds.empty() && fetched.account->pds != *job.host) {
      scheduler.release_slot(fetched, {{.end = HostOutcome::End::Ours}});
      co_return JobMoved{fetched.account->pds};
    }
    fetched.is_partial =
        job.since && fetched.known && *job.since <= *fetched.known && !fetched.wants_whole;
    if (fetched.account) fetched.requested_at = services.jobs_clock.now();
    const std::shared_ptr<HeldCar> held = held_car(services, documents::site_of_origin(*job.host));
    const auto started_at = SteadyClock::now();
    AnswerAwaiter download = get_repository(services, tasks, fetched, held);
    Result<transport::HttpAnswer> answer = co_await download;
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - started_at);
    const Timestamp now = services.jobs_clock.now();
    scheduler.release_slot(fetched, host_outcome(answer, took, now));
    std::optional<JobEnd> end = end_without_car(*job.host, answer, now);
    auto* unavailable = end ? std::get_if<JobUnavailable>(&*end) : nullptr;
    if (unavailable != nullptr && fetched.account) {
      // A former host of the account gives the same answer, and the document may be older than the
      // move. Therefore the document is looked up again.
      AccountAwaiter look_up = look_up_account(services, tasks, job.did, true);
      Result<documents::Account> fresh = co_await look_up;
      if (!fresh) co_return end_without_account(services, job.did, fresh.error());
      if (!fresh->pds.empty() && fresh->pds != *job.host) co_return JobMoved{fresh->pds};
      unavailable->is_gone = unavailable->is_gone && fresh->pds == *job.host;
    } else if (unavailable != nullptr) {
      // Without a document, only a list names the host, so the answer does not prove that the
      // account is gone.
      unavailable->is_gone = false;
    }
    if (end) co_return *std::move(end);
    keep_answer(fetched, *std::move(answer), held);
  }

  // Step 3: check the repository.
  ReaderThreads::Entry reader = services.readers.enter();
  co_await reader;
  RepositoryCheck check = check_repository(fetched, services.clock.now());
  if (check.has_other_key) {
    TaskQueueEntry scheduler_thread(tasks);
    co_await scheduler_thread;
    AccountAwaiter look_up = look_up_account(services, tasks, job.did, true);
    Result<documents::Account> fresh = co_await look_up;
    if (!fresh) co_return end_without_account(services, job.did, fresh.error());
    fetched.account = *std::move(fresh);
    co_await reader;
    check = check_repository(fetched, services.clock.now());
  }
  if (!check.listing) co_return failed_job(job, std::move(check.failure));
  if (const std::size_t unreadable = check.listing->unreadable(); unreadable > 0) {
    logger("backfill")
        ->warn(
            "did={}: {} of its repository cannot be stored: the tree names {} by a "
            "hash other than SHA-256",
            job.did, counted(unreadable, "record"), unreadable == 1 ? "it" : "them");
  }

  // Step 4: write the records.
  auto unfinished = std::make_unique<UnfinishedRepository>(
      UnfinishedRepository{std::move(fetched), *std::move(check.listing)});
  UnfinishedRepository& repository = *unfinished;
  const UnfinishedRepositories::Id id = services.unfinished.begin(std::move(unfinished));
  if (!write_chunks(services, repository, id)) co_return JobStopped{};

  // Step 5: wait until all chunks are durable and the Finisher has finished the repository.
  CallbackAwaiter<JobEnd> finish(
      tasks, [&all = services.unfinished, &repository, id](CallbackAwaiter<JobEnd>::Done done) {
        repository.ended = std::move(done);
        all.complete(id);
      });
  JobEnd end = co_await finish;
  co_return end;
}

}  // namespace skua::backfill
