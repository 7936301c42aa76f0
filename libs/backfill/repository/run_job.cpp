#include "backfill/repository/run_job.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "backfill/hosts/host_outcome.hpp"
#include "backfill/repository/continuation.hpp"
#include "backfill/repository/download.hpp"
#include "backfill/repository/repository_check.hpp"
#include "backfill/repository/write_chunks.hpp"
#include "base/count_text.hpp"
#include "base/log.hpp"
#include "identity/errc.hpp"
#include "identity/host_site.hpp"

namespace skua::backfill {
namespace {

using SteadyClock = std::chrono::steady_clock;
using AccountAwaiter = CallbackAwaiter<Result<identity::Account>>;
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
  if (error == identity::errc::did_not_found) return JobUnavailable{std::move(reason)};
  if (error == identity::errc::did_tombstoned) return JobUnavailable{std::move(reason), true, true};
  return JobFailed{std::move(reason)};
}

/// A failure that does not concern the host. A file is not tried again.
JobFailed failed_job(const Job& job, std::string reason) {
  return {.reason = std::move(reason), .is_final = job.file.has_value()};
}

}  // namespace

JobTask run_job(const JobServices& services, Scheduler& scheduler, TaskQueue& tasks,
                LeasedJob leased) {
  FetchedRepository fetched{std::move(leased)};
  const Job job = fetched.job;
  if (fetched.filter && fetched.filter->excludes(job.did)) {
    if (job.host) scheduler.release_slot(fetched, {{.end = HostOutcome::End::Ours}});
    co_return JobUnavailable{"the account is excluded (skua filter)"};
  }

  // Resolve.
  const bool has_place = job.host || job.file;
  if (services.find_account && (services.verify || !has_place)) {
    AccountAwaiter look_up = look_up_account(services, tasks, job.did, false);
    Result<identity::Account> found = co_await look_up;
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

  // Download.
  if (job.file) {
    const std::shared_ptr<HeldCar> held = held_car(services, {});
    std::string reason = map_car_file(fetched, held);
    if (!reason.empty()) co_return failed_job(job, std::move(reason));
  } else {
    // The document decides which host an account has, whatever a list says.
    if (fetched.account && !fetched.account->pds.empty() && fetched.account->pds != *job.host) {
      scheduler.release_slot(fetched, {{.end = HostOutcome::End::Ours}});
      co_return JobMoved{fetched.account->pds};
    }
    fetched.is_partial =
        job.since && fetched.known && *job.since <= *fetched.known && !fetched.wants_whole;
    if (fetched.account) fetched.requested_at = services.jobs_clock.now();
    const std::shared_ptr<HeldCar> held = held_car(services, identity::site_of_origin(*job.host));
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
      // A host that the account has left answers the same, and the document may be from before.
      AccountAwaiter look_up = look_up_account(services, tasks, job.did, true);
      Result<identity::Account> fresh = co_await look_up;
      if (!fresh) co_return end_without_account(services, job.did, fresh.error());
      if (!fresh->pds.empty() && fresh->pds != *job.host) co_return JobMoved{fresh->pds};
      unavailable->is_gone = unavailable->is_gone && fresh->pds == *job.host;
    } else if (unavailable != nullptr) {
      // A list named the host.
      unavailable->is_gone = false;
    }
    if (end) co_return *std::move(end);
    keep_answer(fetched, *std::move(answer), held);
  }

  // Check.
  ReaderThreads::Entry reader = services.readers.enter();
  co_await reader;
  RepositoryCheck check = check_repository(fetched, services.clock.now());
  if (check.has_other_key) {
    TaskQueueEntry scheduler_thread(tasks);
    co_await scheduler_thread;
    AccountAwaiter look_up = look_up_account(services, tasks, job.did, true);
    Result<identity::Account> fresh = co_await look_up;
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

  // Write.
  auto unfinished = std::make_unique<UnfinishedRepository>(
      UnfinishedRepository{std::move(fetched), *std::move(check.listing)});
  UnfinishedRepository& repository = *unfinished;
  const UnfinishedRepositories::Id id = services.unfinished.begin(std::move(unfinished));
  if (!write_chunks(services, repository, id)) co_return JobStopped{};

  // Wait until all chunks are durable and the Finisher has finished the repository.
  CallbackAwaiter<JobEnd> finish(
      tasks, [&all = services.unfinished, &repository, id](CallbackAwaiter<JobEnd>::Done done) {
        repository.ended = std::move(done);
        all.complete(id);
      });
  JobEnd end = co_await finish;
  co_return end;
}

}  // namespace skua::backfill
