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

/// The queue of repositories that are to be brought in whole: `skua.backfill_jobs`, one row an
/// account. All functions run on the session's thread, in the caller's transaction or each
/// statement in its own, and throw store::SqlError. None reads more of the table than what it
/// gives: the queue may hold tens of millions.
///
/// A *holder* is a process: the `application_name` (store::process_name, which no other process
/// ever has) of a session that it keeps open for as long as it has jobs, at most 63 bytes. A
/// running job is its holder's until the lease is over, or the job is cancelled; from then on the
/// functions below leave the job alone, and what came of it must not be kept. While a chunk of it
/// is being written (BulkWriter) nobody takes it away: whoever cancels it waits for that
/// transaction, and a lease that is over is looked at again later.

/// Attempts after which a job is given up.
constexpr int kMaxAttempts = 15;
/// Processes in a row that may end, without a word, while they have a job, until it is given up.
constexpr int kMostLost = 30;

/// A job to be added: from a host, from a file, or (neither) from a host that is still to be found.
struct NewJob {
  std::string did;
  /// The origin, such as `https://pds.example`.
  std::optional<std::string> host = std::nullopt;
  /// A CAR file; a job that has one asks no host.
  std::optional<std::string> file = std::nullopt;
  /// Fetch only what changed after it.
  std::optional<atproto::Tid> since = std::nullopt;
  /// The revision that a list named.
  std::optional<atproto::Tid> listed = std::nullopt;
};

/// What becomes of a job that has ended when it is asked for again.
enum class Again : std::uint8_t {
  /// Somebody wants it now: it is queued anew, whatever came of it; one that waits is due now.
  Yes,
  /// A list names it: queued anew only if it reached a revision and the listed one is newer, or if
  /// it is unavailable or failed and another host has it now. A cancelled one stays so.
  No,
};

/// Adds jobs, due now. Returns how many were queued, anew ones included; one that was queued
/// or is running does not count. A DID may be there twice.
std::size_t add_jobs(store::Session& session, std::span<const NewJob> jobs, Again again,
                     Timestamp now);

/// A job that was claimed.
struct Job {
  std::string did;
  std::optional<std::string> host;
  std::optional<std::string> file;
  std::optional<atproto::Tid> since;
  /// The revision that an earlier job reached.
  std::optional<atproto::Tid> rev;
  /// Which attempt this is, from 1.
  int attempt = 0;
  /// Which claim of this job this is, from 1: no other ever has the number.
  std::int64_t claim = 0;
};

/// Which jobs are claimed: those of one host, those whose host is to be found, those of files.
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
  /// Long enough for a database that is away for a while: what a killed process had comes back at
  /// the next start anyway (take_back_orphans).
  std::chrono::seconds lease = std::chrono::minutes(10);
  /// Jobs of these accounts only; empty: of all.
  std::span<const std::string> only = {};
};

/// Takes up to `limit` due jobs of a place, those due first first, and lends them. Jobs that
/// another session is just claiming are passed over. Commit before the repository is fetched: it is
/// the running job that keeps tombstones (store::save_cursor) until the job has ended. The answer
/// is in no order.
std::vector<Job> claim_jobs(store::Session& session, const Place& place, std::size_t limit,
                            const Claim& claim);

/// Up to `limit` hosts that have due jobs, in the order of their names, from behind `after`: a
/// caller goes round. Takes a look per host that has queued jobs.
std::vector<std::string> due_hosts(store::Session& session, Timestamp now, std::size_t limit,
                                   const std::string& after = {});

/// The hosts that have due jobs of these accounts, in the order of their names.
std::vector<std::string> due_hosts_of(store::Session& session, std::span<const std::string> dids,
                                      Timestamp now);

/// When the first of all queued jobs is due, or was; nothing: none is queued.
std::optional<Timestamp> next_due(store::Session& session);

/// Whether any job is queued or running: while one is, there is something to wait for.
bool jobs_remain(store::Session& session);
/// The same for the jobs of these accounts.
bool jobs_remain_of(store::Session& session, std::span<const std::string> dids);

/// Extends all leases of the holder that are not over yet; returns how many.
std::size_t renew_leases(store::Session& session, const Claim& claim);

/// A clean stop: the holder's jobs are queued again where they were, as if never claimed.
std::size_t release_jobs(store::Session& session, const std::string& holder);

/// Queues jobs again whose lease is over; it was no attempt. One of them may be what ended their
/// process, and must not do so for ever: from the third time in a row on each waits, 10 s, twice as
/// long each time, an hour at most, so that the others get done between; those that were lost
/// `most_lost` times have failed. Returns how many jobs were taken from their holders.
std::size_t take_back_expired(store::Session& session, Timestamp now, int most_lost = kMostLost);

/// The same for jobs whose holder has no session on this database, whatever their lease says. For
/// the start of a process: the one before it may have been killed a moment ago. A holder that only
/// lost its connections loses its jobs too, and learns it when it ends them.
std::size_t take_back_orphans(store::Session& session, Timestamp now, int most_lost = kMostLost);

struct JobHost {
  std::string did;
  std::string host;
};

/// The hosts of claimed jobs were found, or changed: the jobs are queued there, due now, and the
/// claim does not count as an attempt. Returns how many were still the holder's.
std::size_t set_hosts(store::Session& session, std::span<const JobHost> jobs,
                      const std::string& holder, Timestamp now);

struct FinishedJob {
  std::string did;
  /// The revision that the repository was brought to.
  atproto::Tid rev;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
};

/// Marks jobs as done; in the transaction that finishes their repositories. Returns the DIDs,
/// sorted, of those that were still the holder's: of the others nothing must be committed.
std::vector<std::string> finish_jobs(store::Session& session, std::span<const FinishedJob> jobs,
                                     const std::string& holder, Timestamp now);

/// Why a job did not succeed, in words that people read.
struct JobError {
  std::string did;
  std::string words;
  /// How long the host asked to wait.
  std::chrono::seconds asked{0};
};

/// How long a job that is unavailable or failed waits until it is tried again by itself: a day, and
/// twice as long each time, 30 days at most; a quarter more or less, by chance.
inline constexpr std::chrono::hours kRareDelay{24};
inline constexpr std::chrono::hours kLongestRareDelay = 30 * kRareDelay;

/// Queues up to `limit` jobs again that are unavailable or failed and have waited so long, those
/// first that are due first; not those of files. A failed one has one attempt. Returns how many.
std::size_t retry_rarely(store::Session& session, Timestamp now, std::size_t limit);

/// The host's answer is that there is nothing to fetch, and will be none soon (retry_rarely, and
/// writer::write_account_changes when the account is active again). Returns how many were still the
/// holder's.
std::size_t jobs_unavailable(store::Session& session, std::span<const JobError> jobs,
                             const std::string& holder, Timestamp now);

/// How long a job waits after its nth attempt failed, n from 1: 10 s, twice as long each time, 6
/// hours at most.
std::chrono::seconds job_delay(int attempt);

/// Attempts failed: tried again after `job_delay` and what the host asked for, or given up after
/// `max_attempts`. Returns how many were given up.
std::size_t jobs_failed(store::Session& session, std::span<const JobError> jobs,
                        const std::string& holder, Timestamp now, int max_attempts = kMaxAttempts);

/// The host asked to wait (429): not an attempt. Due again after what it asked for. Returns how
/// many were still the holder's.
std::size_t jobs_postponed(store::Session& session, std::span<const JobError> jobs,
                           const std::string& holder, Timestamp now);

/// Those of the DIDs whose job is running, whoever holds it, in no order.
std::vector<std::string> running_jobs(store::Session& session, std::span<const std::string> dids);

}  // namespace skua::backfill
