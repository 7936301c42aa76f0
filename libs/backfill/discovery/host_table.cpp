#include "backfill/discovery/host_table.hpp"

#include <algorithm>
#include <limits>

#include "store/first_column.hpp"
#include "backfill/discovery/host_table.sql.hpp"

namespace skua::backfill {
namespace {

using store::Array;
using store::Params;
using store::Session;
using store::Statement;

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
  const std::size_t begun = session.execute(sql::backfill_hosts_insert, insert).affected();
  Params said;
  said.array(hosts).array(whats).array(announced);
  session.execute(sql::backfill_hosts_announced, said);
  Params named;
  named.array(operator_hosts).array(operator_whats);
  session.execute(sql::backfill_hosts_set_operator_specified, named);
  return begun;
}

}  // namespace

std::string list_of_collection(const std::string& nsid) {
  return "collection:" + nsid;
}

std::int64_t most_entries(const HostList& list) {
  constexpr std::int64_t kTimes = 10;
  constexpr std::int64_t kAtLeast = 1'000;
  constexpr std::int64_t kOfOperator = 1'000'000;
  constexpr std::int64_t kUnannounced = 100'000;
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  if (list.what != kListOfRepos && list.what != kAuditOfRepos) return kAll;
  if (!list.announced) return list.is_operator_specified ? kOfOperator : kUnannounced;
  return std::max(kAtLeast, std::clamp<std::int64_t>(*list.announced, 0, kAll / kTimes) * kTimes);
}

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
  return store::first_column(session.execute(sql::backfill_hosts_operator_specified, {}));
}

}  // namespace skua::backfill
