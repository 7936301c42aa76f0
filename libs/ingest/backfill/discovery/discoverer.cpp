#include "backfill/discovery/discoverer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "backfill/discovery/audit.hpp"
#include "backfill/discovery/listing.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "postgres/outage.hpp"

namespace skua::backfill {

namespace {

using transport::HostOrigin;

/// The intervals at which threads check whether a list is due.
constexpr std::chrono::milliseconds kListQuiet{1'000};
constexpr std::chrono::seconds kAuditQuiet{10};
/// The number of attempts for the list of a host. Many hosts of the network no longer exist, and
/// the next audit tries all of them again.
constexpr int kAuditAttempts = 3;
/// The wait after a 429 that states no time.
constexpr std::chrono::seconds kListUnsaidWait{30};
const std::string kCollectionPrefix = list_of_collection("");

HostOrigin origin_of(const HostList& list) {
  return list.is_operator_specified ? HostOrigin::configured : HostOrigin::network;
}

template <class Page>
typename Listing<Page>::Source source_of(const HostList& list, bool allow_private_hosts) {
  if constexpr (std::is_same_v<Page, HostPage>) {
    return hosts_of(list.host, origin_of(list), allow_private_hosts);
  } else if (list.what == kListOfRepos || list.what == kAuditOfRepos) {
    return repos_of(list.host, origin_of(list));
  } else {
    return repos_with_collection(list.host, list.what.substr(kCollectionPrefix.size()),
                                 origin_of(list));
  }
}

/// Returns the jobs of a page. Accounts on a host's own list live on this host. A list of the
/// accounts that use a collection does not tell the hosts of the accounts.
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

/// Returns the lists of the hosts that can answer: a relay knows which hosts no longer exist and
/// which it has banned.
std::vector<HostList> lists_of(const HostPage& page, const std::string& what) {
  std::vector<HostList> lists;
  for (const ListedHost& host : page.hosts) {
    if (host.status == "offline" || host.status == "banned") continue;
    lists.push_back({.host = host.origin, .what = what, .announced = host.accounts});
  }
  return lists;
}

void commit_page(postgres::Transaction& transaction) {
  crash_point("before_page_commit");
  transaction.commit();
  crash_point("after_page_commit");
}

/// Returns the cursor of the next page, or nothing if this is the last page.
std::optional<std::string> next_cursor(const std::string& cursor) {
  return cursor.empty() ? std::nullopt : std::optional(cursor);
}

}  // namespace

Discoverer::Discoverer(postgres::Runtime& runtime, Options options, transport::HttpClient& http)
    : runtime_(runtime), options_(std::move(options)), http_(http), clock_(runtime.clocks.server) {}

Discoverer::~Discoverer() {
  stop();
}

void Discoverer::start() {
  for (std::size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this, i](const std::stop_token& stop) { run(stop, i == 0); });
  }
}

void Discoverer::request_stop() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Discoverer::stop() {
  if (threads_.empty()) return;
  request_stop();
  threads_.clear();
  if (held_ == 0) return;
  try {
    postgres::Session session(runtime_.database_url, options_.lease_owner);
    release_lists(session, options_.lease_owner, clock_.now());
  } catch (const postgres::SqlError& error) {
    logger("backfill")
        ->warn("lists were not released; the next process takes them: {}", error.what());
  }
}

void Discoverer::notify() {
  const std::scoped_lock lock(mutex_);
  ++notifications_;
  idle_ = false;
  wake_.notify_all();
}

bool Discoverer::is_idle() const {
  return idle_ && busy_ == 0;
}

DiscoveryMetrics Discoverer::metrics() const {
  DiscoveryMetrics metrics = counters_;
  metrics.under_way = held_;
  return metrics;
}

void Discoverer::run(const std::stop_token& stop, bool first) {
  std::unique_ptr<postgres::Session> session;
  bool took_orphans = !first;
  bool was_down = false;
  while (!stop.stop_requested()) {
    try {
      if (!session || !session->connected()) {
        session = std::make_unique<postgres::Session>(runtime_.database_url, options_.lease_owner);
      }
      if (!took_orphans) reclaim_orphan_lists(*session, clock_.now());
      took_orphans = true;
      was_down = false;
      if (first && options_.audit) begin_audit(*session, *options_.audit, clock_.now());
      if (read_one(*session, stop)) continue;
      if (!first && busy_ == 0) session.reset();
    } catch (const postgres::ServerError& error) {
      was_down = true;
      postgres::log_retry("backfill", "lists cannot be read", error);
      session.reset();
    } catch (const std::exception& error) {
      return runtime_.fatal(std::string("reading lists: ") + error.what());
    }
    rest(stop, first, was_down);
  }
}

void Discoverer::rest(const std::stop_token& stop, bool first, bool was_down) {
  std::unique_lock lock(mutex_);
  const auto seen = notifications_;
  const auto is_notified = [&] { return !was_down && notifications_ != seen; };
  if (first || was_down || busy_ > 0) {
    wake_.wait_for(lock, stop, options_.audit ? kAuditQuiet : kListQuiet, is_notified);
  } else {
    wake_.wait(lock, stop, is_notified);
  }
}

bool Discoverer::read_one(postgres::Session& session, const std::stop_token& stop) {
  struct Busy {
    std::atomic<std::size_t>& count;
    explicit Busy(std::atomic<std::size_t>& counted) : count(counted) { ++count; }
    ~Busy() { --count; }
  };
  std::uint64_t seen = 0;
  {
    const std::scoped_lock lock(mutex_);
    seen = notifications_;
  }
  // The counter includes the time from before the lease until the results are stored. At every
  // moment, either the table or this counter therefore shows the activity.
  const Busy busy(busy_);
  const auto leased = lease_lists(session, 1, lease_request(), purpose());
  if (leased.empty()) {
    const bool none = !next_page_due(session, purpose());
    const std::scoped_lock lock(mutex_);
    idle_ = none && notifications_ == seen;
    return false;
  }
  // If one list is due, more lists may be due, so the other threads are notified.
  notify();
  ++held_;
  const std::string& what = leased.front().list.what;
  const bool is_of_hosts = what == kListOfHosts || what == kAuditOfHosts;
  const bool ended = is_of_hosts ? read<HostPage>(session, leased.front(), stop)
                                 : read<RepoPage>(session, leased.front(), stop);
  if (ended) --held_;
  return true;
}

template <class Page>
bool Discoverer::read(postgres::Session& session, const LeasedList& leased,
                      const std::stop_token& stop) {
  const HostList& list = leased.list;
  Listing<Page> listing(http_, clock_, source_of<Page>(list, options_.allow_private_hosts),
                        leased.cursor.value_or(""));
  std::int64_t left = most_entries(list) - leased.listed;
  for (;;) {
    if (!wait_for_page_interval(stop)) return false;
    auto answer = listing.next();
    if (stop.stop_requested()) return false;
    if (const auto* limited = std::get_if<HostLimited>(&answer)) {
      list_postponed(session, list, list.host + ": " + kLimitedText,
                     limited->wait.value_or(kListUnsaidWait), options_.lease_owner, clock_.now());
      counters_.postponed += 1;
      return true;
    }
    if (const auto* failure = std::get_if<RequestFailed>(&answer)) {
      failed(session, list, *failure);
      return true;
    }
    Page& page = std::get<Page>(answer);
    const bool is_last = page.cursor.empty();
    const auto entries = static_cast<std::int64_t>(page.entries());
    if (!store_page(session, leased, page, left) || is_last) return true;
    left -= entries;
  }
}

bool Discoverer::wait_for_page_interval(const std::stop_token& stop) {
  if (!options_.audit) return true;
  std::unique_lock lock(mutex_);
  const auto page_at = std::max(next_page_at_, std::chrono::steady_clock::now());
  next_page_at_ = page_at + options_.audit->page_interval;
  wake_.wait_until(lock, stop, page_at, [] { return false; });
  return !stop.stop_requested();
}

void Discoverer::failed(postgres::Session& session, const HostList& list,
                        const RequestFailed& failure) {
  const bool is_audited_host = list.what == kAuditOfRepos;
  const bool again =
      list_failed(session, list, list.host + ": " + failure.message,
                  failure.wait.value_or(std::chrono::seconds(0)), options_.lease_owner,
                  clock_.now(), is_audited_host ? kAuditAttempts : kMaxAttempts);
  counters_.failed += 1;
  logger("backfill")
      ->log(is_audited_host ? spdlog::level::debug : spdlog::level::warn,
            "the list {} of {} {}: {}", list.what, list.host,
            again ? "failed, retrying later" : "is abandoned", failure.message);
}

bool Discoverer::store_page(postgres::Session& session, const LeasedList& leased,
                            const HostPage& page, std::int64_t left) {
  const auto entries = static_cast<std::int64_t>(page.entries());
  postgres::Transaction transaction(session);
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

bool Discoverer::store_page(postgres::Session& session, const LeasedList& leased, RepoPage& page,
                            std::int64_t left) {
  const HostList& list = leased.list;
  const auto entries = static_cast<std::int64_t>(page.entries());
  const auto cursor = next_cursor(page.cursor);
  postgres::Transaction transaction(session);
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
  counters_.foreign += stored.foreign;
  counters_.current += stored.current;
  counters_.behind += stored.behind;
  counters_.queued += stored.queued;
  return entries < left;
}

Discoverer::StoredRepos Discoverer::store_repos(postgres::Session& session, const HostList& list,
                                                const std::vector<ListedRepo>& repos) {
  StoredRepos stored;
  if (options_.audit) {
    stored.behind =
        desynchronize_behind(session, list.host, repos, options_.audit->sources, clock_.now());
    return stored;
  }
  std::vector<NewJob> jobs = jobs_of(list, repos);
  stored.foreign = leave_out_foreign(session, jobs);
  stored.current = leave_out_current(session, jobs);
  stored.queued = add_jobs(session, jobs, Again::No, clock_.now());
  return stored;
}

void Discoverer::abandon(postgres::Session& session, const HostList& list) {
  const std::string reason = fmt::format(
      "it names more than {} accounts{}: the rest is left out", most_entries(list),
      list.announced ? fmt::format(", where {} were announced", *list.announced) : std::string());
  list_failed(session, list, list.host + ": " + reason, std::chrono::seconds(0),
              options_.lease_owner, clock_.now(), 1);
  logger("backfill")->warn("the list {} of {} is abandoned: {}", list.what, list.host, reason);
}

}  // namespace skua::backfill
