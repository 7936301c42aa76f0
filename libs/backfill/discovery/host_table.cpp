#include "backfill/discovery/host_table.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "store/error_text.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Rows;
using store::Session;
using store::Statement;

const Statement kInsertHosts{
    "backfill_hosts_insert",
    "INSERT INTO skua.backfill_hosts (host, what, is_operator_specified, announced, next_attempt, "
    "updated_at, "
    "begun_at) SELECT u.host, u.what, u.is_operator_specified, u.announced, $3::timestamptz, "
    "$3::timestamptz, "
    "$3::timestamptz "
    "FROM unnest($1::text[], $2::text[], $4::boolean[], $5::int8[]) "
    "AS u(host, what, is_operator_specified, announced) ORDER BY u.host, u.what "
    "ON CONFLICT (host, what) DO NOTHING"};

/// Updates the lists that exist, sorted as for the insert.
Statement update_asked(const char* name, const std::string& where, const std::string& set) {
  return {name,
          "WITH asked AS MATERIALIZED (SELECT h.host, h.what "
          "FROM unnest($1::text[], $2::text[]) AS u(host, what) "
          "JOIN skua.backfill_hosts AS h ON h.host = u.host AND h.what = u.what WHERE " +
              where +
              " ORDER BY h.host, h.what FOR UPDATE OF h) "
              "UPDATE skua.backfill_hosts AS h SET next_attempt = $3::timestamptz, attempts = 0, " +
              set + " FROM asked WHERE h.host = asked.host AND h.what = asked.what"};
}

const std::string kFromTheBeginning =
    "state = 'none', cursor = NULL, listed = 0, error = NULL, lease_owner = NULL, "
    "begun_at = $3::timestamptz";
const Statement kAnew = update_asked(
    "backfill_hosts_anew", "h.state IN ('listed', 'failed', 'cancelled')", kFromTheBeginning);
const Statement kAnewIfOlder = update_asked(
    "backfill_hosts_anew_if_older",
    "h.state IN ('listed', 'failed') AND h.begun_at < $4::timestamptz", kFromTheBeginning);
const Statement kHurryHosts = update_asked(
    "backfill_hosts_hurry",
    "h.state IN ('none', 'listing') AND h.lease_owner IS NULL AND h.next_attempt > $3::timestamptz",
    "error = NULL");

const Statement kOperatorSpecified{
    "backfill_hosts_set_operator_specified",
    "UPDATE skua.backfill_hosts AS h SET is_operator_specified = true "
    "FROM unnest($1::text[], $2::text[]) AS u(host, what) "
    "WHERE h.host = u.host AND h.what = u.what AND NOT h.is_operator_specified"};

const Statement kAnnounced{
    "backfill_hosts_announced",
    "WITH said AS MATERIALIZED (SELECT h.host, h.what, u.announced "
    "FROM unnest($1::text[], $2::text[], $3::int8[]) AS u(host, what, announced) "
    "JOIN skua.backfill_hosts AS h ON h.host = u.host AND h.what = u.what "
    "WHERE u.announced IS DISTINCT FROM h.announced AND u.announced IS NOT NULL "
    "ORDER BY h.host, h.what FOR UPDATE OF h) "
    "UPDATE skua.backfill_hosts AS h SET announced = said.announced "
    "FROM said WHERE h.host = said.host AND h.what = said.what"};

const Statement kOperatorHosts{
    "backfill_hosts_operator_specified",
    "SELECT DISTINCT host FROM skua.backfill_hosts WHERE is_operator_specified "
    "ORDER BY host"};

const Statement kClaimListing{
    "backfill_hosts_claim",
    "WITH due AS MATERIALIZED (SELECT host, what FROM skua.backfill_hosts "
    "WHERE state IN ('none', 'listing') AND next_attempt <= $1::timestamptz "
    "AND starts_with(what, 'audit:') = $5::boolean "
    "ORDER BY next_attempt LIMIT $4::int8 FOR UPDATE SKIP LOCKED) "
    "UPDATE skua.backfill_hosts AS h SET state = 'listing', next_attempt = $2::timestamptz, "
    "lease_owner = $3 FROM due WHERE h.host = due.host AND h.what = due.what "
    "RETURNING h.host, h.what, h.cursor, h.listed, h.is_operator_specified, h.announced, "
    "(extract(epoch FROM greatest(h.begun_at, to_timestamp(0))) * 1000000)::int8"};

const Statement kSavePage{
    "backfill_hosts_save_page",
    "UPDATE skua.backfill_hosts SET cursor = $3::text, listed = listed + $4::int8, attempts = 0, "
    "error = NULL, updated_at = $6::timestamptz, next_attempt = $7::timestamptz, "
    "state = CASE WHEN $3::text IS NULL THEN 'listed' ELSE 'listing' END, "
    "lease_owner = CASE WHEN $3::text IS NULL THEN NULL ELSE lease_owner END "
    "WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $5"};

// $5: the delay after the nth failure, $8: the number of failures after which the list fails
// permanently.
const Statement kHostFailed{
    "backfill_hosts_failed",
    "UPDATE skua.backfill_hosts SET attempts = attempts + 1, error = $6, lease_owner = NULL, "
    "updated_at = $4::timestamptz, next_attempt = $4::timestamptz + make_interval(secs => "
    "$7::int8 + ($5::int8[])[least(attempts + 1, cardinality($5::int8[]))]), "
    "state = CASE WHEN attempts + 1 >= $8::int4 THEN 'failed' ELSE 'listing' END "
    "WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $3 RETURNING state"};

const Statement kHostPostponed{
    "backfill_hosts_postponed",
    "UPDATE skua.backfill_hosts SET error = $5, lease_owner = NULL, updated_at = $4::timestamptz, "
    "next_attempt = $4::timestamptz + make_interval(secs => $6::int8) "
    "WHERE host = $1 AND what = $2 AND state = 'listing' AND lease_owner = $3"};

const Statement kReleaseHosts{"backfill_hosts_release",
                              "UPDATE skua.backfill_hosts SET lease_owner = NULL, "
                              "next_attempt = $2::timestamptz "
                              "WHERE state = 'listing' AND lease_owner = $1"};

const Statement kOrphans{
    "backfill_hosts_orphans",
    "UPDATE skua.backfill_hosts SET lease_owner = NULL, next_attempt = $1::timestamptz "
    "WHERE state = 'listing' AND lease_owner IS NOT NULL AND NOT EXISTS ("
    "SELECT FROM pg_stat_activity AS s WHERE s.datname = current_database() "
    "AND s.application_name = lease_owner)"};

const Statement kNextHost{"backfill_hosts_next",
                          "SELECT (extract(epoch FROM min(next_attempt)) * 1000000)::int8 "
                          "FROM skua.backfill_hosts WHERE state IN ('none', 'listing') "
                          "AND starts_with(what, 'audit:') = $1::boolean"};

const Statement kCounts{"backfill_hosts_counts",
                        "SELECT what, state, count(*), sum(listed)::int8 "
                        "FROM skua.backfill_hosts WHERE starts_with(what, 'audit:') = $1::boolean "
                        "GROUP BY what, state"};

const Statement kListErrors{
    "backfill_hosts_errors",
    "SELECT host, what, is_operator_specified, state, error FROM skua.backfill_hosts "
    "WHERE error IS NOT NULL AND state <> 'cancelled' "
    "AND NOT starts_with(what, 'audit:') "
    "ORDER BY updated_at DESC, host, what LIMIT $1::int8"};

const Statement kAbandonedSince{"backfill_hosts_abandoned_since",
                                "SELECT count(*) FROM skua.backfill_hosts WHERE state = 'failed' "
                                "AND updated_at >= $1::timestamptz "
                                "AND NOT starts_with(what, 'audit:')"};

Params params_of(const HostList& list, const std::string& lease_owner, Timestamp now) {
  Params params;
  params.text(list.host).text(list.what).text(lease_owner).timestamp(now);
  return params;
}

ListState list_state(std::string_view text) {
  if (text == "listing") return ListState::Listing;
  if (text == "listed") return ListState::Listed;
  if (text == "failed") return ListState::Failed;
  return text == "cancelled" ? ListState::Cancelled : ListState::None;
}

}  // namespace

std::string list_of_collection(const std::string& nsid) {
  return "collection:" + nsid;
}

std::int64_t most_entries(const HostList& list) {
  constexpr std::int64_t kTimes = 10;
  constexpr std::int64_t kAtLeast = 1'000;
  constexpr std::int64_t kOperatorSpecified = 1'000'000;
  constexpr std::int64_t kUnannounced = 100'000;
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  if (list.what != kListOfRepos && list.what != kAuditOfRepos) return kAll;
  if (!list.announced) return list.is_operator_specified ? kOperatorSpecified : kUnannounced;
  return std::max(kAtLeast, std::clamp<std::int64_t>(*list.announced, 0, kAll / kTimes) * kTimes);
}

namespace {

/// Adds lists that are new, and stores the announced numbers of all. `asked`: hosts, what, now.
/// Returns the number of new lists.
std::size_t add_new_lists(Session& session, std::span<const HostList> lists, Params& asked,
                          Timestamp now) {
  Array hosts(Array::Type::text);
  Array whats(Array::Type::text);
  Array is_operator_specified(Array::Type::boolean);
  Array announced(Array::Type::int8);
  Array operator_hosts(Array::Type::text);
  Array operator_whats(Array::Type::text);
  for (const HostList& list : lists) {
    hosts.text(list.host);
    whats.text(list.what);
    is_operator_specified.boolean(list.is_operator_specified);
    list.announced ? announced.int8(*list.announced) : announced.null();
    if (!list.is_operator_specified) continue;
    operator_hosts.text(list.host);
    operator_whats.text(list.what);
  }
  asked.array(hosts).array(whats).timestamp(now);
  Params insert = asked;
  insert.array(is_operator_specified).array(announced);
  const std::size_t begun = session.execute(kInsertHosts, insert).affected();
  Params said;
  said.array(hosts).array(whats).array(announced);
  session.execute(kAnnounced, said);
  Params named;
  named.array(operator_hosts).array(operator_whats);
  session.execute(kOperatorSpecified, named);
  return begun;
}

}  // namespace

std::size_t add_lists(Session& session, std::span<const HostList> lists, Again again,
                      Timestamp now) {
  Params asked;
  std::size_t begun = add_new_lists(session, lists, asked, now);
  if (again == Again::Yes && begun < lists.size()) {
    begun += session.execute(kAnew, asked).affected();
    session.execute(kHurryHosts, asked);
  }
  return begun;
}

std::size_t add_named_lists(Session& session, std::span<const HostList> lists,
                            Timestamp named_since, Timestamp now) {
  Params asked;
  const std::size_t begun = add_new_lists(session, lists, asked, now);
  if (begun == lists.size()) return begun;
  asked.timestamp(named_since);
  return begun + session.execute(kAnewIfOlder, asked).affected();
}

std::vector<std::string> operator_hosts(Session& session) {
  const Rows rows = session.execute(kOperatorHosts, {});
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < rows.size(); ++i) hosts.emplace_back(rows.text(i, 0));
  return hosts;
}

std::vector<LeasedList> lease_lists(Session& session, std::size_t limit,
                                    const LeaseRequest& request, ListPurpose purpose) {
  Params params;
  params.timestamp(request.now).timestamp(request.now + request.duration).text(request.owner);
  params.int8(static_cast<std::int64_t>(limit)).boolean(purpose == ListPurpose::Audit);
  const Rows rows = session.execute(kClaimListing, params);
  std::vector<LeasedList> lists;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    LeasedList leased;
    leased.list = {std::string(rows.text(i, 0)), std::string(rows.text(i, 1)), rows.boolean(i, 4)};
    if (!rows.is_null(i, 5)) leased.list.announced = rows.int8(i, 5);
    if (!rows.is_null(i, 2)) leased.cursor = rows.text(i, 2);
    leased.listed = rows.int8(i, 3);
    leased.begun_at = Timestamp(std::chrono::microseconds(rows.int8(i, 6)));
    lists.push_back(std::move(leased));
  }
  return lists;
}

bool save_page(Session& session, const HostList& list,
               const std::optional<std::string>& next_cursor, std::int64_t entries,
               const LeaseRequest& request) {
  Params params;
  params.text(list.host).text(list.what);
  next_cursor ? params.text(*next_cursor) : params.null();
  params.int8(entries)
      .text(request.owner)
      .timestamp(request.now)
      .timestamp(request.now + request.duration);
  return session.execute(kSavePage, params).affected() == 1;
}

bool list_failed(Session& session, const HostList& list, const std::string& words,
                 std::chrono::seconds asked, const std::string& lease_owner, Timestamp now,
                 int max_attempts) {
  Array delays(Array::Type::int8);
  for (int attempt = 1; attempt <= std::max(max_attempts, 1); ++attempt) {
    delays.int8(job_delay(attempt).count());
  }
  Params params = params_of(list, lease_owner, now);
  params.array(delays).text(store::error_text(words));
  params.int8(std::max<std::int64_t>(asked.count(), 0)).int4(max_attempts);
  const Rows rows = session.execute(kHostFailed, params);
  return rows.empty() || rows.text(0, 0) != "failed";
}

void list_postponed(Session& session, const HostList& list, const std::string& words,
                    std::chrono::seconds asked, const std::string& lease_owner, Timestamp now) {
  Params params = params_of(list, lease_owner, now);
  params.text(store::error_text(words)).int8(std::max<std::int64_t>(asked.count(), 0));
  session.execute(kHostPostponed, params);
}

std::size_t release_lists(Session& session, const std::string& lease_owner, Timestamp now) {
  Params params;
  params.text(lease_owner).timestamp(now);
  return session.execute(kReleaseHosts, params).affected();
}

std::size_t take_back_orphan_lists(Session& session, Timestamp now) {
  Params params;
  params.timestamp(now);
  return session.execute(kOrphans, params).affected();
}

std::optional<Timestamp> next_page_due(Session& session, ListPurpose purpose) {
  Params params;
  params.boolean(purpose == ListPurpose::Audit);
  const Rows rows = session.execute(kNextHost, params);
  if (rows.is_null(0, 0)) return std::nullopt;
  return Timestamp(std::chrono::microseconds(rows.int8(0, 0)));
}

std::map<std::string, ListCounts> list_counts(Session& session, ListPurpose purpose) {
  Params params;
  params.boolean(purpose == ListPurpose::Audit);
  const Rows rows = session.execute(kCounts, params);
  std::map<std::string, ListCounts> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ListCounts& kind = counts[std::string(rows.text(i, 0))];
    kind.lists[list_state(rows.text(i, 1))] = rows.int8(i, 2);
    kind.listed += rows.int8(i, 3);
  }
  return counts;
}

std::vector<ListError> list_errors(Session& session, std::size_t limit) {
  Params params;
  params.int8(static_cast<std::int64_t>(limit));
  const Rows rows = session.execute(kListErrors, params);
  std::vector<ListError> errors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    errors.push_back(
        {{std::string(rows.text(i, 0)), std::string(rows.text(i, 1)), rows.boolean(i, 2)},
         list_state(rows.text(i, 3)),
         std::string(rows.text(i, 4))});
  }
  return errors;
}

std::int64_t lists_abandoned_since(Session& session, Timestamp since) {
  Params params;
  params.timestamp(since);
  return session.execute(kAbandonedSince, params).int8(0, 0);
}

}  // namespace skua::backfill
