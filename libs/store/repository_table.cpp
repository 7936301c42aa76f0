#include "store/repository_table.hpp"

#include <algorithm>
#include <utility>

#include "store/error_text.hpp"

namespace skua::store {
namespace {

const Statement kLoadRepositories{
    "repositories_load",
    "SELECT r.did, r.rev, encode(r.data, 'hex'), r.active, r.reason IS NOT NULL, "
    "(SELECT a.status_time FROM bsky.actors AS a WHERE a.did = r.did AND NOT a.active) "
    "FROM unnest($1::text[]) AS asked(did) "
    "JOIN skua.repositories AS r ON r.did = asked.did"};

// $7: the states in which a break makes a repository desynchronized: only 'complete', or all. If a
// repository was just created, older rows come from an unverified source, and the new repository
// lacks their records.
const Statement kSaveRepositories{
    "repositories_save",
    "INSERT INTO skua.repositories AS r (did, rev, data, active, breaks, anchor, broke_at, state, "
    "next_attempt) SELECT u.did, u.rev, u.data, u.active, u.breaks, u.anchor, "
    "CASE WHEN u.breaks > 0 THEN $6::timestamptz END, "
    "CASE WHEN u.breaks > 0 AND ($7::boolean OR b.is_whole) THEN 'desynchronized' "
    "WHEN b.is_whole THEN 'complete' ELSE 'partial' END, "
    "CASE WHEN u.breaks > 0 AND ($7::boolean OR b.is_whole) THEN $6::timestamptz END "
    "FROM unnest($1::text[], $2::int8[], $3::bytea[], $4::boolean[], $5::int4[], $8::int8[], "
    "$9::int8[]) AS u(did, rev, data, active, breaks, anchor, born), "
    "LATERAL (SELECT u.born IS NOT NULL AND NOT EXISTS (SELECT FROM bsky.all_records AS old "
    "WHERE old.did = u.did AND old.rev < bsky.tid_text(u.born)) AS is_whole) AS b "
    "ON CONFLICT (did) DO UPDATE SET active = EXCLUDED.active, "
    "rev = CASE WHEN EXCLUDED.rev > coalesce(r.rev, 0) THEN EXCLUDED.rev ELSE r.rev END, "
    "data = CASE WHEN EXCLUDED.rev > coalesce(r.rev, 0) THEN EXCLUDED.data ELSE r.data END, "
    "breaks = r.breaks + EXCLUDED.breaks, anchor = greatest(r.anchor, EXCLUDED.anchor), "
    "broke_at = coalesce(EXCLUDED.broke_at, r.broke_at), "
    // EXCLUDED.state is 'complete', or 'desynchronized' for a repository that is complete since its
    // creation.
    "state = CASE WHEN r.rev IS NULL AND r.state = 'partial' THEN EXCLUDED.state "
    "WHEN EXCLUDED.breaks > 0 AND (r.state = 'complete' OR $7::boolean) THEN 'desynchronized' "
    "ELSE r.state END, "
    "next_attempt = CASE WHEN r.rev IS NULL AND r.state = 'partial' THEN EXCLUDED.next_attempt "
    "WHEN EXCLUDED.breaks > 0 AND r.state <> 'desynchronized' "
    "AND (r.state = 'complete' OR $7::boolean) THEN $6::timestamptz ELSE r.next_attempt END"};

/// The reason of a resync that follows from a Gap. It is also how a Gap is recognized.
constexpr const char* kGapReason = "a message of the account was not applied in full";
constexpr const char* kReservedReason =
    "a message of the account was not applied in full, as of many accounts of its host";

// The anchor keeps a download of an earlier revision from ending the wait.
const Statement kDesynchronize{
    "repositories_desynchronize",
    "INSERT INTO skua.repositories AS r (did, state, next_attempt, anchor, reason) "
    "SELECT u.did, 'desynchronized', $3::timestamptz, u.rev, $4 "
    "FROM unnest($1::text[], $2::int8[]) AS u(did, rev) "
    "ON CONFLICT (did) DO UPDATE SET state = 'desynchronized', "
    "anchor = greatest(r.anchor, EXCLUDED.anchor), "
    "reason = CASE WHEN r.state <> 'desynchronized' THEN EXCLUDED.reason ELSE r.reason END, "
    "next_attempt = CASE WHEN r.state <> 'desynchronized' THEN EXCLUDED.next_attempt "
    "ELSE r.next_attempt END "
    "WHERE r.state <> 'desynchronized' OR EXCLUDED.anchor > coalesce(r.anchor, 0)"};

const Statement kTakeDue{"repositories_take_due",
                         "UPDATE skua.repositories AS r SET next_attempt = $2::timestamptz FROM ("
                         "SELECT did FROM skua.repositories WHERE state = 'desynchronized' "
                         "AND next_attempt <= $1::timestamptz ORDER BY next_attempt LIMIT $3::int8 "
                         "FOR UPDATE SKIP LOCKED) AS due WHERE r.did = due.did RETURNING r.did, "
                         "(SELECT i.pds FROM skua.identities AS i WHERE i.did = r.did), "
                         "r.reason IS NOT DISTINCT FROM $4"};

const Statement kPostpone{"repositories_postpone",
                          "UPDATE skua.repositories AS r SET next_attempt = u.until, "
                          "reason = CASE WHEN u.is_reserved THEN $4 ELSE r.reason END "
                          "FROM unnest($1::text[], $2::timestamptz[], $3::boolean[]) "
                          "AS u(did, until, is_reserved) "
                          "WHERE r.did = u.did AND r.state = 'desynchronized'"};

const Statement kAsk{
    "repositories_ask",
    "INSERT INTO skua.repositories AS r (did, state, next_attempt) "
    "VALUES ($1, 'desynchronized', $2::timestamptz) ON CONFLICT (did) DO UPDATE "
    "SET state = 'desynchronized', attempts = 0, error = NULL, next_attempt = $2::timestamptz"};

const Statement kAttempts{"repositories_attempts",
                          "UPDATE skua.repositories SET attempts = attempts + 1, error = $2 "
                          "WHERE did = $1 AND state = 'desynchronized' RETURNING attempts"};
const Statement kRetryAt{"repositories_retry_at",
                         "UPDATE skua.repositories SET next_attempt = $2::timestamptz "
                         "WHERE did = $1 AND state = 'desynchronized'"};

// Nothing is missing of a repository that does not exist.
const Statement kDeleted{
    "repositories_deleted",
    "UPDATE skua.repositories SET state = 'complete', attempts = 0, error = NULL, reason = NULL, "
    "next_attempt = NULL WHERE did = $1 AND state = 'desynchronized'"};

// Locks the filter's row, so that a concurrent change to a wider filter either sees this repository
// as complete, or is seen here.
const Statement kDone{
    "repositories_done",
    "INSERT INTO skua.repositories AS r (did, rev, data, state, reason, next_attempt) "
    "SELECT u.did, u.rev, u.data, "
    "CASE WHEN u.filter < f.widened THEN 'desynchronized' ELSE 'complete' END, "
    "CASE WHEN u.filter < f.widened THEN 'the filter came to let more collections through "
    "meanwhile' END, "
    "CASE WHEN u.filter < f.widened THEN $4::timestamptz + interval '10 seconds' END "
    "FROM unnest($1::text[], $2::int8[], $3::bytea[], $5::int8[]) AS u(did, rev, data, filter) "
    "LEFT JOIN (SELECT widened FROM skua.filter_state FOR SHARE) AS f ON true "
    "ON CONFLICT (did) DO UPDATE SET attempts = 0, error = NULL, reason = EXCLUDED.reason, "
    "state = CASE WHEN r.anchor > EXCLUDED.rev THEN 'desynchronized' ELSE EXCLUDED.state END, "
    "next_attempt = CASE WHEN r.anchor > EXCLUDED.rev THEN $4::timestamptz "
    "ELSE EXCLUDED.next_attempt END, "
    "rev = greatest(r.rev, EXCLUDED.rev), "
    "data = CASE WHEN EXCLUDED.rev > coalesce(r.rev, 0) THEN EXCLUDED.data ELSE r.data END "
    "RETURNING did, state = 'complete'"};

std::optional<atproto::Digest> digest_of_hex(std::string_view hex) {
  atproto::Digest digest{};
  if (hex.size() != digest.size() * 2) return std::nullopt;
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(value(hex[2 * i]) << 4 | value(hex[2 * i + 1]));
  }
  return digest;
}

std::int64_t int8_of(atproto::Tid rev) {
  return static_cast<std::int64_t>(rev.value);
}

}  // namespace

std::vector<RepositoryRow> load_repositories(Session& session, std::span<const std::string> dids) {
  Array asked(Array::Type::text);
  for (const std::string& did : dids) asked.text(did);
  Params params;
  params.array(asked);
  const Rows rows = session.execute(kLoadRepositories, params);
  std::vector<RepositoryRow> found;
  found.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RepositoryRow row;
    row.did = rows.text(i, 0);
    if (!rows.is_null(i, 1) && !rows.is_null(i, 2)) {
      if (const auto digest = digest_of_hex(rows.text(i, 2))) {
        row.head = {{static_cast<std::uint64_t>(rows.int8(i, 1))},
                    {atproto::Cid::kDagCbor, *digest}};
      }
    }
    row.active = rows.boolean(i, 3);
    row.wants_whole = rows.boolean(i, 4);
    if (!rows.is_null(i, 5)) row.hidden_since = rows.timestamp(i, 5);
    found.push_back(std::move(row));
  }
  return found;
}

void save_repositories(Session& session, std::span<const RepositoryProgress> progress,
                       Resync resync, Timestamp now) {
  // Bounds the memory of a statement, not of the transaction.
  constexpr std::size_t kAtOnce = 10'000;
  for (std::size_t begin = 0; begin < progress.size(); begin += kAtOnce) {
    Array dids(Array::Type::text);
    Array revs(Array::Type::int8);
    Array data(Array::Type::bytea);
    Array active(Array::Type::boolean);
    Array breaks(Array::Type::int4);
    Array anchors(Array::Type::int8);
    Array born(Array::Type::int8);
    for (const auto& [row, row_breaks, anchor, row_born] :
         progress.subspan(begin, std::min(kAtOnce, progress.size() - begin))) {
      dids.text(row.did);
      if (row.head) {
        revs.int8(int8_of(row.head->rev));
        data.bytea(row.head->data.digest);
      } else {
        revs.null();
        data.null();
      }
      active.boolean(row.active);
      breaks.int4(row_breaks);
      if (anchor) {
        anchors.int8(int8_of(*anchor));
      } else {
        anchors.null();
      }
      if (row_born) {
        born.int8(int8_of(*row_born));
      } else {
        born.null();
      }
    }
    Params params;
    params.array(dids).array(revs).array(data).array(active).array(breaks);
    params.timestamp(now).boolean(resync == Resync::All).array(anchors).array(born);
    session.execute(kSaveRepositories, params);
  }
}

void desynchronize(Session& session, std::span<const Gap> gaps, Timestamp now) {
  if (gaps.empty()) return;
  Array dids(Array::Type::text);
  Array revs(Array::Type::int8);
  for (const Gap& gap : gaps) {
    dids.text(gap.did);
    if (gap.rev) {
      revs.int8(int8_of(*gap.rev));
    } else {
      revs.null();
    }
  }
  Params params;
  params.array(dids).array(revs).timestamp(now).text(kGapReason);
  session.execute(kDesynchronize, params);
}

std::chrono::seconds resync_delay(int attempts) {
  constexpr std::chrono::seconds kFirst{60};
  constexpr std::chrono::seconds kLongest = std::chrono::hours(24);
  return std::min<std::chrono::seconds>(kFirst * (1 << std::clamp(attempts - 1, 0, 12)), kLongest);
}

std::vector<DueResync> take_due_resyncs(Session& session, Timestamp now, std::chrono::seconds lease,
                                        std::size_t limit) {
  Params params;
  params.timestamp(now).timestamp(now + lease).int8(static_cast<std::int64_t>(limit));
  params.text(kGapReason);
  const Rows rows = session.execute(kTakeDue, params);
  std::vector<DueResync> due(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    due[i].did = rows.text(i, 0);
    if (!rows.is_null(i, 1)) due[i].host = rows.text(i, 1);
    due[i].has_gap = rows.boolean(i, 2);
  }
  return due;
}

void postpone_resyncs(Session& session, std::span<const PostponedResync> postponed) {
  if (postponed.empty()) return;
  Array dids(Array::Type::text);
  Array times(Array::Type::timestamptz);
  Array reserved(Array::Type::boolean);
  for (const PostponedResync& resync : postponed) {
    dids.text(resync.did);
    times.timestamp(resync.until);
    reserved.boolean(resync.is_reserved);
  }
  Params params;
  params.array(dids).array(times).array(reserved).text(kReservedReason);
  session.execute(kPostpone, params);
}

void ask_for_resync(Session& session, const std::string& did, Timestamp now) {
  Params params;
  params.text(did).timestamp(now);
  session.execute(kAsk, params);
}

void resync_failed(Session& session, const std::string& did, const std::string& error,
                   Timestamp now) {
  Transaction transaction(session);
  Params count;
  count.text(did).text(error_text(error));
  const Rows rows = session.execute(kAttempts, count);
  if (!rows.empty()) {
    Params retry;
    retry.text(did).timestamp(now + resync_delay(rows.int4(0, 0)));
    session.execute(kRetryAt, retry);
  }
  transaction.commit();
}

void resync_of_deleted_done(Session& session, const std::string& did) {
  Params params;
  params.text(did);
  session.execute(kDeleted, params);
}

bool resync_done(Session& session, const std::string& did, const atproto::RepositoryHead& head,
                 Timestamp now) {
  const WholeRepository whole{did, head};
  return resyncs_done(session, {&whole, 1}, now).empty();
}

std::vector<std::string> resyncs_done(Session& session, std::span<const WholeRepository> whole,
                                      Timestamp now) {
  Array dids(Array::Type::text);
  Array revs(Array::Type::int8);
  Array data(Array::Type::bytea);
  Array filters(Array::Type::int8);
  for (const WholeRepository& repository : whole) {
    dids.text(repository.did);
    revs.int8(int8_of(repository.head.rev));
    data.bytea(repository.head.data.digest);
    filters.int8(repository.filter_version);
  }
  Params params;
  params.array(dids).array(revs).array(data).timestamp(now).array(filters);
  const Rows rows = session.execute(kDone, params);
  std::vector<std::string> with_gap;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows.boolean(i, 1)) with_gap.emplace_back(rows.text(i, 0));
  }
  return with_gap;
}

}  // namespace skua::store
