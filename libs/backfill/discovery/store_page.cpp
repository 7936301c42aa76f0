#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "backfill/discovery/current_repositories.hpp"
#include "backfill/discovery/discoverer.hpp"
#include "base/count_text.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"

// How a Discoverer stores the pages that it has read.

namespace skua::backfill {

namespace {

/// Accounts on a host's own list live on this host. A list of the accounts that use a collection
/// does not tell their hosts.
std::vector<NewJob> jobs_of(const HostList& list, const std::vector<ListedRepo>& repos) {
  std::vector<NewJob> jobs;
  jobs.reserve(repos.size());
  for (const ListedRepo& repo : repos) {
    NewJob& job = jobs.emplace_back();
    job.did = repo.did;
    job.listed = repo.rev;
    if (list.what == kListOfRepos) job.host = list.host;
  }
  return jobs;
}

/// The hosts that are worth asking: a relay knows which no longer exist and which it has banned.
std::vector<HostList> lists_of(const HostPage& page, const std::string& what) {
  std::vector<HostList> lists;
  for (const ListedHost& host : page.hosts) {
    if (host.status == "offline" || host.status == "banned") continue;
    lists.push_back({.host = host.origin, .what = what, .announced = host.accounts});
  }
  return lists;
}

void commit_page(store::Transaction& transaction) {
  crash_point("before_page_commit");
  transaction.commit();
  crash_point("after_page_commit");
}

/// The cursor of the next page; nothing: it is the last page.
std::optional<std::string> next_cursor(const std::string& cursor) {
  return cursor.empty() ? std::nullopt : std::optional(cursor);
}

}  // namespace

bool Discoverer::store_page(store::Session& session, const LeasedList& leased, const HostPage& page,
                            std::int64_t left) {
  const auto entries = static_cast<std::int64_t>(page.entries());
  store::Transaction transaction(session);
  if (!save_page(session, leased.list, next_cursor(page.cursor), entries, lease_request())) {
    return false;
  }
  const std::vector<HostList> lists = lists_of(page, options_.audit ? kAuditOfRepos : kListOfRepos);
  add_named_lists(session, lists, leased.begun_at, clock_.now());
  commit_page(transaction);
  counters_.hosts += lists.size();
  notify();
  counters_.pages += 1;
  counters_.refused += page.refused;
  return entries < left;
}

bool Discoverer::store_page(store::Session& session, const LeasedList& leased, RepoPage& page,
                            std::int64_t left) {
  const HostList& list = leased.list;
  const auto entries = static_cast<std::int64_t>(page.entries());
  const auto cursor = next_cursor(page.cursor);
  store::Transaction transaction(session);
  if (!save_page(session, list, cursor, entries, lease_request())) return false;
  std::size_t surplus = 0;
  if (const auto room = static_cast<std::size_t>(std::max<std::int64_t>(left, 0));
      page.entries() > room) {
    const std::size_t taken = std::min(page.repos.size(), room);
    surplus = page.repos.size() - taken;
    page.repos.resize(taken);
  }
  const StoredRepos stored = store_repos(session, list, page.repos);
  // A page that uses up the remaining entries is the last one, even if it has a cursor.
  if (entries >= left && cursor) abandon(session, list);
  commit_page(transaction);
  if (stored.behind > 0) {
    logger("backfill")
        ->info("audit: {} lists newer revisions of {} than are stored: queued for a resync",
               list.host, counted(stored.behind, "repository"));
  }
  counters_.accounts += page.repos.size();
  counters_.inactive += page.inactive;
  if (stored.queued > 0) options_.on_jobs();
  counters_.pages += 1;
  counters_.refused += page.refused;
  counters_.surplus += surplus;
  counters_.current += stored.current;
  counters_.behind += stored.behind;
  counters_.queued += stored.queued;
  return entries < left;
}

Discoverer::StoredRepos Discoverer::store_repos(store::Session& session, const HostList& list,
                                                const std::vector<ListedRepo>& repos) {
  StoredRepos stored;
  if (options_.audit) {
    stored.behind =
        desynchronize_behind(session, list.host, repos, options_.audit->sources, clock_.now());
    return stored;
  }
  std::vector<NewJob> jobs = jobs_of(list, repos);
  stored.current = leave_out_current(session, jobs);
  stored.queued = add_jobs(session, jobs, Again::No, clock_.now());
  return stored;
}

void Discoverer::abandon(store::Session& session, const HostList& list) {
  const std::string reason = fmt::format(
      "it names more than {} accounts{}: the rest is left out", most_entries(list),
      list.announced ? fmt::format(", where {} were announced", *list.announced) : std::string());
  list_failed(session, list, list.host + ": " + reason, std::chrono::seconds(0),
              options_.lease_owner, clock_.now(), 1);
  logger("backfill")->warn("the list {} of {} is abandoned: {}", list.what, list.host, reason);
}

}  // namespace skua::backfill
