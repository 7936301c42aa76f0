#include "backfill/queue/job_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "store/error_text.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

// Sorted by DID, as all that takes rows of this table, so that no two wait for each other.
const Statement kInsert{
    "backfill_jobs_insert",
    "INSERT INTO skua.backfill_jobs (did, host, file, since, created_at, next_attempt) "
    "SELECT u.did, u.host, u.file, u.since, $5::timestamptz, $5::timestamptz "
    "FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[]) AS u(did, host, file, since) "
    "ORDER BY u.did ON CONFLICT (did) DO NOTHING"};

// $6: whatever came of it. $7: the revision that a list named.
const Statement kAgain{
    "backfill_jobs_again",
    "WITH ended AS MATERIALIZED (SELECT j.did, u.host, u.file, u.since "
    "FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $7::int8[]) "
    "AS u(did, host, file, since, listed) JOIN skua.backfill_jobs AS j ON j.did = u.did "
    "WHERE j.state NOT IN ('queued', 'running') AND ($6::boolean OR (j.state <> 'cancelled' AND "
    "(u.listed > j.rev OR (j.state <> 'done' AND u.host IS NOT NULL AND u.host IS DISTINCT FROM "
    "j.host)))) "
    "ORDER BY j.did FOR UPDATE OF j) "
    "UPDATE skua.backfill_jobs AS j SET state = 'queued', host = ended.host, file = ended.file, "
    "since = ended.since, attempts = 0, lost = 0, retries = 0, error = NULL, "
    "next_attempt = $5::timestamptz "
    "FROM ended WHERE j.did = ended.did"};

const Statement kHurry{
    "backfill_jobs_hurry",
    "WITH waiting AS MATERIALIZED (SELECT j.did FROM unnest($1::text[]) AS u(did) "
    "JOIN skua.backfill_jobs AS j ON j.did = u.did WHERE j.state = 'queued' "
    "AND j.next_attempt > $2::timestamptz ORDER BY j.did FOR UPDATE OF j) "
    "UPDATE skua.backfill_jobs AS j SET next_attempt = $2::timestamptz, attempts = 0, lost = 0 "
    "FROM waiting WHERE j.did = waiting.did"};

// What waits of each kind of place, in the words of the partial indexes.
const std::string kAtAHost = "state = 'queued' AND file IS NULL AND host IS NOT NULL";
const std::string kHomeless = "state = 'queued' AND file IS NULL AND host IS NULL";
const std::string kOfFiles = "state = 'queued' AND file IS NOT NULL";

Statement claim_statement(const char* name, const std::string& which) {
  return {name,
          "WITH due AS MATERIALIZED (SELECT did FROM skua.backfill_jobs WHERE " + which +
              " AND next_attempt <= $1::timestamptz ORDER BY next_attempt LIMIT $4::int8 "
              "FOR UPDATE SKIP LOCKED) "
              "UPDATE skua.backfill_jobs AS j SET state = 'running', attempts = j.attempts + 1, "
              "claim = j.claim + 1, lease = $2::timestamptz, holder = $3 FROM due "
              "WHERE j.did = due.did "
              "RETURNING j.did, j.host, j.file, j.since, j.rev, j.attempts, j.claim"};
}

/// Jobs of one kind of place, out of all or of some accounts.
struct ClaimStatements {
  Statement of_all;
  Statement of_some;
};

/// `last`: how many parameters there are; the accounts come behind them.
ClaimStatements claim_statements(const std::string& name, const std::string& which, int last) {
  return {claim_statement(name.c_str(), which),
          claim_statement((name + "_of").c_str(),
                          which + " AND did = ANY ($" + std::to_string(last + 1) + "::text[])")};
}

const ClaimStatements kClaimHost =
    claim_statements("backfill_jobs_claim_host", kAtAHost + " AND host = $5", 5);
const ClaimStatements kClaimUnknown = claim_statements("backfill_jobs_claim_unknown", kHomeless, 4);
const ClaimStatements kClaimFile = claim_statements("backfill_jobs_claim_file", kOfFiles, 4);

/// The first job of the first host behind another.
std::string first_behind(const std::string& host) {
  return "(SELECT host, next_attempt FROM skua.backfill_jobs WHERE " + kAtAHost + " AND host > " +
         host + " ORDER BY host, next_attempt LIMIT 1)";
}

// From one host of the index to the next, over whatever lies between them.
const std::string kFirstOfEachHost =
    "WITH RECURSIVE first AS (" + first_behind("$1") +
    " UNION ALL SELECT n.host, n.next_attempt FROM first CROSS JOIN LATERAL " +
    first_behind("first.host") + " AS n) ";

const Statement kDueHosts{"backfill_jobs_due_hosts",
                          kFirstOfEachHost +
                              "SELECT host FROM first WHERE next_attempt <= $2::timestamptz "
                              "LIMIT $3::int8"};

std::string first_of(const std::string& which) {
  return "(SELECT next_attempt FROM skua.backfill_jobs WHERE " + which +
         " ORDER BY next_attempt LIMIT 1)";
}

const Statement kDueHostsOf{
    "backfill_jobs_due_hosts_of",
    "SELECT DISTINCT host FROM skua.backfill_jobs WHERE did = ANY ($1::text[]) AND " + kAtAHost +
        " AND next_attempt <= $2::timestamptz ORDER BY host"};

const Statement kNextDue{"backfill_jobs_next_due", kFirstOfEachHost +
                                                       "SELECT (extract(epoch FROM least("
                                                       "(SELECT min(next_attempt) FROM first), " +
                                                       first_of(kHomeless) + ", " +
                                                       first_of(kOfFiles) + ")) * 1000000)::int8"};

std::string exists(const std::string& which) {
  return "EXISTS (SELECT FROM skua.backfill_jobs WHERE " + which + ")";
}

const Statement kRemain{"backfill_jobs_remain", "SELECT " + exists(kAtAHost) + " OR " +
                                                    exists(kHomeless) + " OR " + exists(kOfFiles) +
                                                    " OR " + exists("state = 'running'")};

const Statement kRemainOf{
    "backfill_jobs_remain_of",
    "SELECT " + exists("did = ANY ($1::text[]) AND state IN ('queued', 'running')")};

// A job that is locked is just ending: it needs no lease. Those of which a chunk is being written
// are locked less strongly, and renewed.
const Statement kRenew{
    "backfill_jobs_renew",
    "WITH held AS MATERIALIZED (SELECT did FROM skua.backfill_jobs WHERE state = 'running' "
    "AND holder = $1 AND lease > $2::timestamptz FOR NO KEY UPDATE SKIP LOCKED) "
    "UPDATE skua.backfill_jobs AS j SET lease = $3::timestamptz FROM held WHERE j.did = held.did"};

const Statement kRelease{
    "backfill_jobs_release",
    "WITH held AS MATERIALIZED (SELECT did FROM skua.backfill_jobs WHERE state = 'running' "
    "AND holder = $1 ORDER BY did FOR UPDATE) "
    "UPDATE skua.backfill_jobs AS j SET state = 'queued', lease = NULL, holder = NULL, "
    "attempts = j.attempts - 1 FROM held WHERE j.did = held.did"};

/// How long a job that has ended badly waits, in seconds: see kRareDelay.
const std::string kRareWait = fmt::format(
    "least({} * 2 ^ least(j.retries, 10), {}) * "
    "(0.75 + random() / 2)",
    std::chrono::seconds(kRareDelay).count(), std::chrono::seconds(kLongestRareDelay).count());

/// Takes running jobs away from their holders: `which` says whose. No attempt, as nobody knows
/// which of the jobs ended the process; a job whose host was only looked for did not.
Statement take_back_statement(const char* name, const std::string& which, const char* words) {
  return {name,
          "WITH lost AS MATERIALIZED (SELECT did, times, times > 2 OR times >= $2::int4 AS often "
          "FROM (SELECT did, lost + (host IS NOT NULL OR file IS NOT NULL)::int4 AS times "
          "FROM skua.backfill_jobs WHERE state = 'running' AND " +
              which +
              " ORDER BY did FOR UPDATE SKIP LOCKED) AS held) "
              "UPDATE skua.backfill_jobs AS j SET lease = NULL, holder = NULL, "
              "finished_at = CASE WHEN lost.often THEN $1::timestamptz ELSE j.finished_at END, "
              "error = CASE WHEN lost.often THEN '" +
              words +
              "' ELSE j.error END, attempts = j.attempts - 1, lost = lost.times, "
              "state = CASE WHEN lost.times >= $2::int4 THEN 'failed' ELSE 'queued' END, "
              "next_attempt = $1::timestamptz + make_interval(secs => "
              "CASE WHEN lost.times >= $2::int4 THEN " +
              kRareWait +
              " WHEN lost.times <= 2 THEN 0 ELSE least(10 * 2 ^ (lost.times - 3), 3600) END) "
              "FROM lost WHERE j.did = lost.did"};
}

const Statement kTakeExpired =
    take_back_statement("backfill_jobs_take_expired", "lease <= $1::timestamptz",
                        "the process that had it did not renew its lease");
const Statement kTakeOrphans = take_back_statement(
    "backfill_jobs_take_orphans",
    "NOT EXISTS (SELECT FROM pg_stat_activity AS s WHERE s.datname = current_database() "
    "AND s.application_name = holder)",
    "the process that had it ended");

/// Ends an attempt at those of the jobs that are the holder's. `columns` are arrays beside the DIDs
/// from $4 on; `set` is what becomes of a row.
Statement end_statement(const char* name, const std::string& arrays, const std::string& columns,
                        const std::string& set, const std::string& returning) {
  return {name, "WITH ours AS MATERIALIZED (SELECT u.* FROM unnest($1::text[]" + arrays +
                    ") AS u(did" + columns +
                    ") JOIN skua.backfill_jobs AS j ON j.did = u.did WHERE j.state = 'running' "
                    "AND j.holder = $2 AND j.lease > $3::timestamptz ORDER BY j.did "
                    "FOR UPDATE OF j) "
                    "UPDATE skua.backfill_jobs AS j SET lease = NULL, holder = NULL, " +
                    set + " FROM ours WHERE j.did = ours.did RETURNING " + returning};
}

const Statement kSetHosts =
    end_statement("backfill_jobs_set_hosts", ", $4::text[]", ", host",
                  "state = 'queued', host = ours.host, next_attempt = $3::timestamptz, "
                  "attempts = j.attempts - 1",
                  "j.did");

const Statement kFinish = end_statement(
    "backfill_jobs_finish", ", $4::int8[], $5::int8[], $6::int8[]", ", rev, records, bytes",
    "state = 'done', rev = greatest(j.rev, ours.rev), records = ours.records, "
    "bytes = ours.bytes, finished_at = $3::timestamptz, error = NULL, attempts = 0, lost = 0, "
    "retries = 0",
    "j.did");

const Statement kUnavailable =
    end_statement("backfill_jobs_unavailable", ", $4::text[]", ", words",
                  "state = 'unavailable', error = ours.words, finished_at = $3::timestamptz, "
                  "next_attempt = $3::timestamptz + make_interval(secs => " +
                      kRareWait + ")",
                  "j.did");

// $6: what the nth attempt waits, $7: after how many it is given up.
const Statement kFailed =
    end_statement("backfill_jobs_failed", ", $4::text[], $5::int8[]", ", words, asked",
                  "state = CASE WHEN j.attempts >= $7::int4 THEN 'failed' ELSE 'queued' END, "
                  "lost = 0, error = ours.words, finished_at = $3::timestamptz, "
                  "next_attempt = $3::timestamptz + make_interval(secs => CASE "
                  "WHEN j.attempts >= $7::int4 THEN " +
                      kRareWait +
                      " ELSE ours.asked + "
                      "($6::int8[])[least(j.attempts, cardinality($6::int8[]))] END)",
                  "j.state = 'failed'");

const Statement kPostponed =
    end_statement("backfill_jobs_postponed", ", $4::text[], $5::int8[]", ", words, asked",
                  "state = 'queued', error = ours.words, finished_at = $3::timestamptz, "
                  "attempts = j.attempts - 1, "
                  "next_attempt = $3::timestamptz + make_interval(secs => ours.asked)",
                  "j.did");

const Statement kRetryRarely{
    "backfill_jobs_retry_rarely",
    "WITH due AS MATERIALIZED (SELECT did FROM skua.backfill_jobs "
    "WHERE state IN ('unavailable', 'failed') AND file IS NULL "
    "AND next_attempt <= $1::timestamptz ORDER BY next_attempt LIMIT $2::int8 "
    "FOR UPDATE SKIP LOCKED) "
    "UPDATE skua.backfill_jobs AS j SET state = 'queued', retries = j.retries + 1, "
    "attempts = CASE WHEN j.state = 'failed' THEN greatest(j.attempts - 1, 0) ELSE 0 END "
    "FROM due WHERE j.did = due.did"};

const Statement kRunning{"backfill_jobs_running",
                         "SELECT j.did FROM unnest($1::text[]) AS u(did) "
                         "JOIN skua.backfill_jobs AS j ON j.did = u.did WHERE j.state = 'running'"};

void add_or_null(Array& array, const std::optional<std::string>& text) {
  text ? array.text(*text) : array.null();
}

void add_or_null(Array& array, const std::optional<atproto::Tid>& tid) {
  tid ? array.int8(static_cast<std::int64_t>(tid->value)) : array.null();
}

std::optional<atproto::Tid> tid_or_null(const Rows& rows, std::size_t row, std::size_t column) {
  if (rows.is_null(row, column)) return std::nullopt;
  return atproto::Tid{static_cast<std::uint64_t>(rows.int8(row, column))};
}

std::vector<std::string> first_column(const Rows& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) texts.emplace_back(rows.text(i, 0));
  return texts;
}

Array dids_of(std::span<const std::string> dids) {
  Array array(Array::Type::text);
  for (const std::string& did : dids) array.text(did);
  return array;
}

/// What all that ends attempts by an error begins with: DIDs, holder, now, words.
Params error_params(std::span<const JobError> jobs, const std::string& holder, Timestamp now) {
  Array dids(Array::Type::text);
  Array words(Array::Type::text);
  for (const JobError& job : jobs) {
    dids.text(job.did);
    words.text(store::error_text(job.words));
  }
  Params params;
  params.array(dids).text(holder).timestamp(now).array(words);
  return params;
}

Array asked_of(std::span<const JobError> jobs) {
  Array asked(Array::Type::int8);
  for (const JobError& job : jobs) asked.int8(std::max<std::int64_t>(job.asked.count(), 0));
  return asked;
}

std::size_t add_some(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  Array dids(Array::Type::text);
  Array hosts(Array::Type::text);
  Array files(Array::Type::text);
  Array since(Array::Type::int8);
  Array listed(Array::Type::int8);
  for (const NewJob& job : jobs) {
    dids.text(job.did);
    add_or_null(hosts, job.host);
    add_or_null(files, job.file);
    add_or_null(since, job.since);
    add_or_null(listed, job.listed);
  }
  Params params;
  params.array(dids).array(hosts).array(files).array(since).timestamp(now);
  std::size_t queued = session.execute(kInsert, params).affected();
  if (queued == jobs.size()) return queued;
  params.boolean(again == Again::Yes).array(listed);
  queued += session.execute(kAgain, params).affected();
  if (again == Again::Yes) {
    Params hurry;
    hurry.array(dids).timestamp(now);
    session.execute(kHurry, hurry);
  }
  return queued;
}

const ClaimStatements& claim_statements_of(Place::Kind kind) {
  switch (kind) {
    case Place::Kind::Host:
      return kClaimHost;
    case Place::Kind::Unknown:
      return kClaimUnknown;
    case Place::Kind::File:
      return kClaimFile;
  }
  return kClaimUnknown;
}

std::size_t take_back(Session& session, const Statement& statement, Timestamp now, int most_lost) {
  Params params;
  params.timestamp(now).int4(most_lost);
  return session.execute(statement, params).affected();
}

}  // namespace

std::size_t add_jobs(Session& session, std::span<const NewJob> jobs, Again again, Timestamp now) {
  // Bounds the memory of a statement.
  constexpr std::size_t kAtOnce = 10'000;
  std::size_t queued = 0;
  for (std::size_t begin = 0; begin < jobs.size(); begin += kAtOnce) {
    queued +=
        add_some(session, jobs.subspan(begin, std::min(kAtOnce, jobs.size() - begin)), again, now);
  }
  return queued;
}

std::vector<Job> claim_jobs(Session& session, const Place& place, std::size_t limit,
                            const Claim& claim) {
  Params params;
  params.timestamp(claim.now).timestamp(claim.now + claim.lease).text(claim.holder);
  params.int8(static_cast<std::int64_t>(limit));
  if (place.kind == Place::Kind::Host) params.text(place.host);
  if (!claim.only.empty()) params.array(dids_of(claim.only));
  const ClaimStatements& statements = claim_statements_of(place.kind);
  const Rows rows =
      session.execute(claim.only.empty() ? statements.of_all : statements.of_some, params);
  std::vector<Job> jobs;
  jobs.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Job job;
    job.did = rows.text(i, 0);
    job.host = rows.text_or_null(i, 1);
    job.file = rows.text_or_null(i, 2);
    job.since = tid_or_null(rows, i, 3);
    job.rev = tid_or_null(rows, i, 4);
    job.attempt = rows.int4(i, 5);
    job.claim = rows.int8(i, 6);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::vector<std::string> due_hosts(Session& session, Timestamp now, std::size_t limit,
                                   const std::string& after) {
  Params params;
  params.text(after).timestamp(now).int8(static_cast<std::int64_t>(limit));
  return first_column(session.execute(kDueHosts, params));
}

std::vector<std::string> due_hosts_of(Session& session, std::span<const std::string> dids,
                                      Timestamp now) {
  Params params;
  params.array(dids_of(dids)).timestamp(now);
  return first_column(session.execute(kDueHostsOf, params));
}

std::optional<Timestamp> next_due(Session& session) {
  Params params;
  params.text("");
  const Rows rows = session.execute(kNextDue, params);
  if (rows.is_null(0, 0)) return std::nullopt;
  return Timestamp(std::chrono::microseconds(rows.int8(0, 0)));
}

bool jobs_remain(Session& session) {
  return session.execute(kRemain, {}).boolean(0, 0);
}

bool jobs_remain_of(Session& session, std::span<const std::string> dids) {
  Params params;
  params.array(dids_of(dids));
  return session.execute(kRemainOf, params).boolean(0, 0);
}

std::size_t renew_leases(Session& session, const Claim& claim) {
  Params params;
  params.text(claim.holder).timestamp(claim.now).timestamp(claim.now + claim.lease);
  return session.execute(kRenew, params).affected();
}

std::size_t release_jobs(Session& session, const std::string& holder) {
  Params params;
  params.text(holder);
  return session.execute(kRelease, params).affected();
}

std::size_t take_back_expired(Session& session, Timestamp now, int most_lost) {
  return take_back(session, kTakeExpired, now, most_lost);
}

std::size_t take_back_orphans(Session& session, Timestamp now, int most_lost) {
  return take_back(session, kTakeOrphans, now, most_lost);
}

std::size_t set_hosts(Session& session, std::span<const JobHost> jobs, const std::string& holder,
                      Timestamp now) {
  Array dids(Array::Type::text);
  Array hosts(Array::Type::text);
  for (const JobHost& job : jobs) {
    dids.text(job.did);
    hosts.text(job.host);
  }
  Params params;
  params.array(dids).text(holder).timestamp(now).array(hosts);
  return session.execute(kSetHosts, params).affected();
}

std::vector<std::string> finish_jobs(Session& session, std::span<const FinishedJob> jobs,
                                     const std::string& holder, Timestamp now) {
  Array dids(Array::Type::text);
  Array revs(Array::Type::int8);
  Array records(Array::Type::int8);
  Array bytes(Array::Type::int8);
  for (const FinishedJob& job : jobs) {
    dids.text(job.did);
    revs.int8(static_cast<std::int64_t>(job.rev.value));
    records.int8(job.records);
    bytes.int8(job.bytes);
  }
  Params params;
  params.array(dids).text(holder).timestamp(now).array(revs).array(records).array(bytes);
  std::vector<std::string> ours = first_column(session.execute(kFinish, params));
  std::sort(ours.begin(), ours.end());
  return ours;
}

std::size_t retry_rarely(Session& session, Timestamp now, std::size_t limit) {
  Params params;
  params.timestamp(now).int8(static_cast<std::int64_t>(limit));
  return session.execute(kRetryRarely, params).affected();
}

std::size_t jobs_unavailable(Session& session, std::span<const JobError> jobs,
                             const std::string& holder, Timestamp now) {
  return session.execute(kUnavailable, error_params(jobs, holder, now)).affected();
}

std::chrono::seconds job_delay(int attempt) {
  constexpr std::chrono::seconds kFirst{10};
  constexpr std::chrono::seconds kLongest = std::chrono::hours(6);
  return std::min<std::chrono::seconds>(kFirst * (1 << std::clamp(attempt - 1, 0, 12)), kLongest);
}

std::size_t jobs_failed(Session& session, std::span<const JobError> jobs, const std::string& holder,
                        Timestamp now, int max_attempts) {
  Array delays(Array::Type::int8);
  for (int attempt = 1; attempt <= std::max(max_attempts, 1); ++attempt) {
    delays.int8(job_delay(attempt).count());
  }
  Params params = error_params(jobs, holder, now);
  params.array(asked_of(jobs)).array(delays).int4(max_attempts);
  const Rows rows = session.execute(kFailed, params);
  std::size_t given_up = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) given_up += rows.boolean(i, 0) ? 1 : 0;
  return given_up;
}

std::size_t jobs_postponed(Session& session, std::span<const JobError> jobs,
                           const std::string& holder, Timestamp now) {
  Params params = error_params(jobs, holder, now);
  params.array(asked_of(jobs));
  return session.execute(kPostponed, params).affected();
}

std::vector<std::string> running_jobs(Session& session, std::span<const std::string> dids) {
  Params params;
  params.array(dids_of(dids));
  return first_column(session.execute(kRunning, params));
}

}  // namespace skua::backfill
