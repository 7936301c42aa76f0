#include "backfill/discovery/host_table.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "backfill/discovery/host_table.sql.hpp"

namespace skua::backfill {

namespace {

using postgres::column;
using postgres::Session;

/// Adds the lists that are new, and stores the announced numbers of all lists. Returns the number
/// of new lists.
std::size_t add_new_lists(Session& session, std::span<const HostList> lists, Timestamp now) {
  const postgres::Array hosts = column(lists, &HostList::host);
  const postgres::Array whats = column(lists, &HostList::what);
  const postgres::Array announced = column(lists, &HostList::announced);
  const std::size_t begun = session
                                .execute(sql::backfill_hosts_insert, hosts, whats, now,
                                         column(lists, &HostList::is_operator_specified), announced)
                                .affected();
  session.execute(sql::backfill_hosts_announced, hosts, whats, announced);
  std::vector<HostList> of_operator;
  std::ranges::copy_if(lists, std::back_inserter(of_operator), &HostList::is_operator_specified);
  session.execute(sql::backfill_hosts_set_operator_specified, column(of_operator, &HostList::host),
                  column(of_operator, &HostList::what));
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
  std::size_t begun = add_new_lists(session, lists, now);
  if (again == Again::Yes && begun < lists.size()) {
    const postgres::Array hosts = column(lists, &HostList::host);
    const postgres::Array whats = column(lists, &HostList::what);
    begun += session.execute(sql::backfill_hosts_anew, hosts, whats, now).affected();
    session.execute(sql::backfill_hosts_hurry, hosts, whats, now);
  }
  return begun;
}

std::size_t add_named_lists(Session& session, std::span<const HostList> lists,
                            Timestamp named_since, Timestamp now) {
  const std::size_t begun = add_new_lists(session, lists, now);
  if (begun == lists.size()) return begun;
  return begun + session
                     .execute(sql::backfill_hosts_anew_if_older, column(lists, &HostList::host),
                              column(lists, &HostList::what), now, named_since)
                     .affected();
}

std::vector<std::string> operator_hosts(Session& session) {
  return session.query<std::string>(sql::backfill_hosts_operator_specified);
}

}  // namespace skua::backfill
