#include "backfill/queue/job_outcomes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "backfill/queue/job_outcomes.sql.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "postgres/sql_error.hpp"
#include "tables/repository_table.hpp"
#include "writer/account_changes.hpp"
#include "writer/account_locks.hpp"

namespace skua::backfill {

namespace {

using postgres::column;
using postgres::Session;

postgres::Array dids_of(std::span<const JobError> jobs) {
  return column(jobs, &JobError::did);
}

postgres::Array reasons_of(std::span<const JobError> jobs) {
  return column(jobs, [](const JobError& job) { return postgres::error_text(job.reason); });
}

/// Returns the seconds for which the host asked to wait.
postgres::Array asked_of(std::span<const JobError> jobs) {
  return column(jobs,
                [](const JobError& job) { return std::max<std::int64_t>(job.asked.count(), 0); });
}

/// The number of gone accounts in one call. It is limited because the same thread also starts jobs
/// and renews leases.
constexpr std::size_t kGoneInACall = 100;

/// Logs that the host now confirms a deletion, which the stream had reported earlier.
void log_confirmation(const std::string& did, const writer::PurgeStep& step) {
  logger("backfill")
      ->info("did={}: the host confirms that the account is deleted; {} deleted{}", did,
             counted(static_cast<std::int64_t>(step.rows), "row"), step.is_done ? "" : " so far");
}

}  // namespace

std::size_t set_hosts(Session& session, std::span<const JobHost> jobs,
                      const std::string& lease_owner, Timestamp now) {
  return session
      .execute(sql::backfill_jobs_set_hosts, column(jobs, &JobHost::did), lease_owner, now,
               column(jobs, &JobHost::host))
      .affected();
}

std::vector<std::string> finish_jobs(Session& session, std::span<const FinishedJob> jobs,
                                     const std::string& lease_owner, Timestamp now) {
  auto ours = session.query<std::string>(sql::backfill_jobs_finish, column(jobs, &FinishedJob::did),
                                         lease_owner, now, column(jobs, &FinishedJob::rev),
                                         column(jobs, &FinishedJob::records),
                                         column(jobs, &FinishedJob::bytes));
  std::ranges::sort(ours);
  return ours;
}

std::size_t jobs_unavailable(Session& session, std::span<const JobError> jobs,
                             const std::string& lease_owner, Timestamp now) {
  return session
      .execute(sql::backfill_jobs_unavailable, dids_of(jobs), lease_owner, now, reasons_of(jobs))
      .affected();
}

std::size_t jobs_failed(Session& session, std::span<const JobError> jobs,
                        const std::string& lease_owner, Timestamp now, int max_attempts) {
  std::vector<std::int64_t> delays;
  for (int attempt = 1; attempt <= std::max(max_attempts, 1); ++attempt) {
    delays.push_back(job_delay(attempt).count());
  }
  const auto is_abandoned =
      session.query<bool>(sql::backfill_jobs_failed, dids_of(jobs), lease_owner, now,
                          reasons_of(jobs), asked_of(jobs), delays, max_attempts);
  return static_cast<std::size_t>(std::ranges::count(is_abandoned, true));
}

std::size_t jobs_postponed(Session& session, std::span<const JobError> jobs,
                           const std::string& lease_owner, Timestamp now) {
  return session
      .execute(sql::backfill_jobs_postponed, dids_of(jobs), lease_owner, now, reasons_of(jobs),
               asked_of(jobs))
      .affected();
}

JobOutcomes::JobOutcomes(std::string lease_owner, int max_attempts, const Clock& clock,
                         BackfillCounters& counters)
    : lease_owner_(std::move(lease_owner)),
      max_attempts_(max_attempts),
      clock_(clock),
      counters_(counters) {}

void JobOutcomes::add(const std::string& did, JobEnd end) {
  std::visit(
      [&](auto& how) {
        using How = std::decay_t<decltype(how)>;
        if constexpr (std::is_same_v<How, JobMoved>) {
          moved_.push_back({did, std::move(how.host)});
        } else if constexpr (std::is_same_v<How, JobUnavailable>) {
          JobError job{did, std::move(how.reason)};
          if (how.is_gone) {
            gone_.push_back({std::move(job), how.is_tombstoned});
          } else {
            unavailable_.push_back(std::move(job));
          }
        } else if constexpr (std::is_same_v<How, JobPostponed>) {
          postponed_.push_back({did, std::move(how.reason), how.wait});
        } else if constexpr (std::is_same_v<How, JobFailed>) {
          auto& failed = how.is_final ? failed_finally_ : failed_;
          failed.push_back({did, std::move(how.reason), how.wait});
        }
        // The other outcomes need no statement.
      },
      end);
}

void JobOutcomes::purge_gone(postgres::Session& session) {
  std::size_t rows = 0;
  bool has_time = true;
  for (std::size_t i = 0; i < kGoneInACall && !gone_.empty(); ++i) {
    const std::string& did = gone_.front().job.did;
    const auto tombstoned_at =
        gone_.front().is_tombstoned ? std::optional(clock_.now()) : std::nullopt;
    const writer::Confirmation confirmation = writer::confirm_deletion(session, did, tombstoned_at);
    if (confirmation.is_deleted) tables::resync_of_deleted_done(session, did);
    if (confirmation.has_rows) {
      writer::PurgeStep step;
      if (has_time) step = writer::purge_step(session, did, writer::kRowsOfRemoval - rows);
      rows += step.rows;
      has_time = has_time && step.is_done;
      log_confirmation(did, step);
    }
    unavailable_.push_back(std::move(gone_.front().job));
    gone_.pop_front();
  }
}

void JobOutcomes::write(postgres::Session& session) {
  const Timestamp now = clock_.now();
  // A list is cleared after its statement, so that it is not written again if a later statement
  // fails.
  const auto write_all = [](auto& pending, auto&& into_table) {
    if (pending.empty()) return;
    into_table();
    pending.clear();
  };
  write_all(moved_, [&] { set_hosts(session, moved_, lease_owner_, now); });
  write_all(postponed_, [&] {
    jobs_postponed(session, postponed_, lease_owner_, now);
    counters_.postponed += postponed_.size();
  });
  purge_gone(session);
  write_all(unavailable_, [&] {
    jobs_unavailable(session, unavailable_, lease_owner_, now);
    // If the job is a resync, the resync has failed, too.
    for (const JobError& job : unavailable_) {
      tables::resync_failed(session, job.did, job.reason, now);
    }
    counters_.unavailable += unavailable_.size();
  });
  write_all(failed_, [&] {
    counters_.abandoned += jobs_failed(session, failed_, lease_owner_, now, max_attempts_);
    counters_.failed += failed_.size();
  });
  write_all(failed_finally_, [&] {
    counters_.abandoned += jobs_failed(session, failed_finally_, lease_owner_, now, 1);
    counters_.failed += failed_finally_.size();
  });
}

}  // namespace skua::backfill
