#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "atproto/tid.hpp"
#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::backfill {

/// The queue of repositories to download: `skua.backfill_jobs`, one row for each account. All
/// functions run on the session's thread, in the caller's transaction or each statement in its own,
/// and throw store::SqlError. They read no more rows than they return: the queue may hold tens of
/// millions.
///
/// The *holder* of a job is its lease owner: the `application_name` (store::process_name, unique to
/// a process, at most 63 bytes) of a session that the process keeps open while it has jobs. The
/// lease ends with its time, or when the job is cancelled. From then on the functions below ignore
/// the former owner, and its results must not be committed. While a chunk of a job is written
/// (BulkWriter) the lease cannot be taken away: a cancel waits for that transaction, and an expired
/// lease is checked again later.

/// Attempts after which a job fails.
constexpr int kMaxAttempts = 15;
/// A job fails after so many processes in a row have crashed while they had it.
constexpr int kMostLost = 30;

/// A job to add: from a host, from a file, or (neither) from a host that is not known yet.
struct NewJob {
  std::string did;
  /// The origin, such as `https://pds.example`.
  std::optional<std::string> host = std::nullopt;
  /// A CAR file; the job then makes no request.
  std::optional<std::string> file = std::nullopt;
  /// Download only what changed after this revision.
  std::optional<atproto::Tid> since = std::nullopt;
  /// The revision that a list named.
  std::optional<atproto::Tid> listed = std::nullopt;
};

/// Whether a job that has ended is queued again.
enum class Again : std::uint8_t {
  /// A user requests it: it is queued again, whatever its state; a queued one is due now.
  Yes,
  /// A list names it: it is queued again only if the listed revision is newer than the reached one,
  /// or if it is unavailable or failed and has another host now. A cancelled job stays cancelled.
  No,
};

/// Adds jobs, due now. Returns how many were queued, new or again; a job that is queued or running
/// already does not count. `jobs` may contain a DID twice.
std::size_t add_jobs(store::Session& session, std::span<const NewJob> jobs, Again again,
                     Timestamp now);

/// A leased job.
struct Job {
  std::string did;
  std::optional<std::string> host;
  std::optional<std::string> file;
  std::optional<atproto::Tid> since;
  /// The revision that an earlier job reached.
  std::optional<atproto::Tid> rev;
  /// The number of this attempt, from 1.
  int attempt = 0;
  /// The number of this lease of the job, from 1. It is never used again.
  std::int64_t claim = 0;
};

/// Which jobs to lease: those of one host, those whose host is not known yet, or those of files.
struct Place {
  enum class Kind : std::uint8_t { Host, Unknown, File };
  Kind kind = Kind::Unknown;
  std::string host;

  static Place at(std::string host) { return {Kind::Host, std::move(host)}; }
  static Place unknown() { return {Kind::Unknown, {}}; }
  static Place file() { return {Kind::File, {}}; }
};

/// The owner of leases, and when they begin and end.
struct Claim {
  std::string holder;
  Timestamp now;
  /// Long enough for an outage of the database: the jobs of a killed process are reclaimed at the
  /// next start anyway (take_back_orphans).
  std::chrono::seconds lease = std::chrono::minutes(10);
  /// Only jobs of these accounts; empty: of all.
  std::span<const std::string> only = {};
};

/// Leases up to `limit` due jobs of a place, the earliest due first. Skips jobs that another
/// session is leasing at this moment. Commit before the download begins: the running job keeps
/// tombstones (store::save_cursor) until it has ended. The result has no order.
std::vector<Job> claim_jobs(store::Session& session, const Place& place, std::size_t limit,
                            const Claim& claim);

/// Up to `limit` hosts with due jobs, sorted by name, after `after`: the caller goes through them
/// in turn. Reads one row for each host with queued jobs.
std::vector<std::string> due_hosts(store::Session& session, Timestamp now, std::size_t limit,
                                   const std::string& after = {});

/// The hosts with due jobs of these accounts, sorted by name.
std::vector<std::string> due_hosts_of(store::Session& session, std::span<const std::string> dids,
                                      Timestamp now);

/// When the first queued job is or was due; nothing: none is queued.
std::optional<Timestamp> next_due(store::Session& session);

/// Whether any job is queued or running.
bool jobs_remain(store::Session& session);
/// The same for the jobs of these accounts.
bool jobs_remain_of(store::Session& session, std::span<const std::string> dids);

/// Extends all leases of the holder that have not expired; returns how many.
std::size_t renew_leases(store::Session& session, const Claim& claim);

/// For a clean stop: queues the holder's jobs again at their place, as if never leased.
std::size_t release_jobs(store::Session& session, const std::string& holder);

/// Queues jobs with expired leases again; this does not count as an attempt. One of them may have
/// crashed its process, and must not do so for ever: from the third time in a row each job waits 10
/// s, twice as long each time, an hour at most, so that other jobs are processed meanwhile. A job
/// that was lost `most_lost` times fails. Returns how many leases were reclaimed.
std::size_t take_back_expired(store::Session& session, Timestamp now, int most_lost = kMostLost);

/// The same for jobs whose holder has no session on this database, although the lease has not
/// expired. For the start of a process: the former one may have been killed a moment ago. A holder
/// that lost only its connections loses its jobs too, and notices when it ends them.
std::size_t take_back_orphans(store::Session& session, Timestamp now, int most_lost = kMostLost);

struct JobHost {
  std::string did;
  std::string host;
};

/// Sets the hosts of leased jobs, which were found or have changed. The jobs are queued again, due
/// now, and the lease does not count as an attempt. Returns how many were still the holder's.
std::size_t set_hosts(store::Session& session, std::span<const JobHost> jobs,
                      const std::string& holder, Timestamp now);

struct FinishedJob {
  std::string did;
  /// The revision of the downloaded repository.
  atproto::Tid rev;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
};

/// Marks jobs as done; in the transaction that finishes their repositories. Returns the DIDs,
/// sorted, of those that were still the holder's: nothing of the others must be committed.
std::vector<std::string> finish_jobs(store::Session& session, std::span<const FinishedJob> jobs,
                                     const std::string& holder, Timestamp now);

/// Why a job did not succeed, for people.
struct JobError {
  std::string did;
  std::string words;
  /// How long the host asks to wait.
  std::chrono::seconds asked{0};
};

/// How long an unavailable or failed job waits until it is retried: a day, twice as long each time,
/// 30 days at most, with a random quarter more or less.
inline constexpr std::chrono::hours kRareDelay{24};
inline constexpr std::chrono::hours kLongestRareDelay = 30 * kRareDelay;

/// Queues up to `limit` unavailable or failed jobs again that have waited so long, the earliest due
/// first; not those of files. A failed job gets one attempt. Returns how many.
std::size_t retry_rarely(store::Session& session, Timestamp now, std::size_t limit);

/// The host has refused the repositories: the jobs are unavailable. They are retried rarely
/// (retry_rarely), and when the account is active again (writer::write_account_changes). Returns
/// how many were still the holder's.
std::size_t jobs_unavailable(store::Session& session, std::span<const JobError> jobs,
                             const std::string& holder, Timestamp now);

/// How long a job waits after its nth attempt failed, n from 1: 10 s, twice as long each time, 6
/// hours at most.
std::chrono::seconds job_delay(int attempt);

/// Attempts failed: the jobs are retried after `job_delay` and the wait that the host asks for, or
/// fail after `max_attempts`. Returns how many failed.
std::size_t jobs_failed(store::Session& session, std::span<const JobError> jobs,
                        const std::string& holder, Timestamp now, int max_attempts = kMaxAttempts);

/// The host asked to wait (429): this is not an attempt. The jobs are due after that wait. Returns
/// how many were still the holder's.
std::size_t jobs_postponed(store::Session& session, std::span<const JobError> jobs,
                           const std::string& holder, Timestamp now);

/// The DIDs with a running job of any holder, in no order.
std::vector<std::string> running_jobs(store::Session& session, std::span<const std::string> dids);

}  // namespace skua::backfill
