#include "backfill/queue/scheduler.hpp"

#include <algorithm>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "backfill/discovery/host_table.hpp"
#include "backfill/queue/job_leases.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/seeded_hash.hpp"
#include "documents/host_status.hpp"
#include "tables/account_groups.hpp"
#include "tables/repository_table.hpp"

namespace skua::backfill {
namespace {

using std::chrono::seconds;

/// The pause after a poll that found no job.
constexpr seconds kPollPause{1};
constexpr seconds kRenewEvery{30};
constexpr seconds kResyncEvery{5};
/// The time after which a resync without a result is due again.
constexpr seconds kResyncLease{3'600};
constexpr std::size_t kResyncsAtOnce = 500;
/// The limits of resyncs. Each resync is a download of the whole repository. An account whose
/// commits repeatedly break waits. Accounts with commits that cannot be applied in full also wait
/// by site, because a host chooses how many of its accounts send such commits.
constexpr Share kResyncsOfAccount{.burst = 10, .every = std::chrono::minutes(10)};
constexpr Share kResyncsOfSite{.burst = 500, .every = seconds(1)};
/// Rare retries are not urgent, so only a few are queued at a time.
constexpr seconds kRareRetriesEvery{60};
constexpr std::size_t kRareRetriesAtOnce = 200;
constexpr std::size_t kLeaseJobs = 200;
/// The maximum number of open jobs with a host or a file, which a killed process has to repeat.
constexpr std::size_t kMostOpen = 400;
/// The maximum number of open jobs without a host.
constexpr std::size_t kMostOpenUnknown = 1'000;
constexpr std::size_t kHostsAtOnce = 1'000;
constexpr std::size_t kShownHosts = 20;

bool has_unknown_host(const Job& job) {
  return !job.host && !job.file;
}

}  // namespace

Scheduler::Scheduler(Options options, const Clock& clock, const Clock& monotonic,
                     BackfillCounters& counters)
    : options_(std::move(options)),
      clock_(clock),
      monotonic_(monotonic),
      counters_(counters),
      limits_(options_.limits),
      resyncs_of_account_(kResyncsOfAccount),
      resyncs_of_site_(kResyncsOfSite) {}

void Scheduler::tick(postgres::Session& session, bool at_once) {
  reclaim_orphans(session);
  keep_leases(session);
  if (options_.resync) queue_resyncs(session);
  if (options_.only.empty()) queue_rare_retries(session);
  const Timestamp now = monotonic_.now();
  if (!at_once && now < next_poll_) return;
  // If a statement below fails, the next tick polls again at once.
  next_poll_ = Timestamp();
  const bool unknown = start_unknown(session);
  const bool files = start_files(session);
  const bool hosts = start_at_hosts(session);
  const bool found = unknown || files || hosts;
  is_idle_ =
      !found && counters_.in_hand == 0 &&
      !(options_.only.empty() ? jobs_remain(session) : jobs_remain_of(session, options_.only));
  if (!found) next_poll_ = now + kPollPause;
}

void Scheduler::release_slot(const LeasedJob& leased, HostOutcome outcome) {
  outcome.started_at = leased.started_at;
  limits_.finished(*leased.job.host, outcome, monotonic_.now());
  // The next poll is now, so that the next job of this host starts before this job has been
  // written.
  if (outcome.end != HostOutcome::End::Ours) next_poll_ = Timestamp();
}

void Scheduler::closed(const Job& job) {
  counters_.in_hand -= 1;
  if (has_unknown_host(job)) --open_unknown_;
  next_poll_ = Timestamp();
}

std::vector<HostMetrics> Scheduler::host_metrics() const {
  std::vector<HostMetrics> metrics = limits_.metrics(kShownHosts, monotonic_.now());
  const auto difference = clock_.now() - monotonic_.now();
  for (HostMetrics& host : metrics) {
    if (host.waits_until) *host.waits_until += difference;
  }
  return metrics;
}

void Scheduler::reclaim_orphans(postgres::Session& session) {
  if (has_reclaimed_orphans_) return;
  reclaim_orphan_jobs(session, clock_.now());
  has_reclaimed_orphans_ = true;
}

void Scheduler::keep_leases(postgres::Session& session) {
  if (monotonic_.now() < next_renewal_) return;
  const Timestamp now = clock_.now();
  renew_leases(session, {options_.lease_owner, now});
  reclaim_expired_jobs(session, now);
  next_renewal_ = monotonic_.now() + kRenewEvery;
}

void Scheduler::queue_resyncs(postgres::Session& session) {
  if (monotonic_.now() < next_resync_) return;
  next_resync_ = monotonic_.now() + kResyncEvery;
  const Timestamp now = clock_.now();
  const std::vector<tables::DueResync> due =
      tables::take_due_resyncs(session, now, kResyncLease, kResyncsAtOnce);
  std::vector<NewJob> jobs;
  std::vector<tables::PostponedResync> postponed;
  for (const tables::DueResync& resync : due) {
    const Timestamp at = monotonic_.now();
    const Timestamp by_account = resyncs_of_account_.next(resync.did, at);
    if (by_account > at) {
      postponed.push_back({resync.did, now + (by_account - at)});
      continue;
    }
    if (resync.has_gap) {
      const Timestamp by_site =
          resyncs_of_site_.reserve(documents::site_of_origin(resync.host), at);
      if (by_site > at) {
        postponed.push_back({resync.did, now + (by_site - at), true});
        continue;
      }
    }
    resyncs_of_account_.take(resync.did, 1, at);
    jobs.push_back({resync.did});
  }
  tables::postpone_resyncs(session, postponed);
  if (jobs.empty()) return;
  add_jobs(session, jobs, Again::Yes, now);
  next_poll_ = Timestamp();
}

void Scheduler::queue_rare_retries(postgres::Session& session) {
  if (monotonic_.now() < next_rare_retries_) return;
  next_rare_retries_ = monotonic_.now() + kRareRetriesEvery;
  if (retry_rarely(session, clock_.now(), kRareRetriesAtOnce) > 0) next_poll_ = Timestamp();
}

bool Scheduler::has_room() const {
  return counters_.held_bytes < options_.held_bytes &&
         counters_.in_hand - open_unknown_ < kMostOpen;
}

std::vector<LeasedJob> Scheduler::lease(postgres::Session& session, const Place& place,
                                        std::size_t limit) {
  JobLeaseRequest request{options_.lease_owner, clock_.now()};
  request.only = options_.only;
  std::vector<Job> jobs = lease_jobs(session, place, limit, request);
  if (jobs.empty()) return {};
  counters_.in_hand += jobs.size();
  if (place.kind == Place::Kind::Unknown) open_unknown_ += jobs.size();
  std::vector<std::string> dids;
  dids.reserve(jobs.size());
  for (const Job& job : jobs) dids.push_back(job.did);
  // The filter is loaded before any request. The downloaded repository therefore contains every
  // record that passes this filter and that processes dropped under an earlier filter.
  const tables::FilterState state = tables::load_filter_state(session);
  if (!owned_) owned_ = tables::load_account_groups(session).owned;
  if (!filter_ || filter_->version() != state.version) filter_ = tables::load_filter(session);
  boost::unordered_flat_map<std::string, tables::RepositoryRow, SeededHash> rows;
  for (tables::RepositoryRow& row : tables::load_repositories(session, dids)) {
    std::string did = row.did;
    rows.emplace(std::move(did), std::move(row));
  }
  std::vector<LeasedJob> leased;
  leased.reserve(jobs.size());
  for (Job& job : jobs) {
    LeasedJob& one = leased.emplace_back();
    if (const auto row = rows.find(job.did); row != rows.end()) {
      if (row->second.head) one.known = row->second.head->rev;
      one.wants_whole = row->second.wants_whole;
    }
    one.filter = filter_;
    one.filter_version = state.settled;
    one.is_foreign = !owned_->has_account(job.did);
    one.job = std::move(job);
  }
  return leased;
}

bool Scheduler::start_unknown(postgres::Session& session) {
  if (!options_.finds_hosts || open_unknown_ >= kMostOpenUnknown) return false;
  std::vector<LeasedJob> leased = lease(session, Place::unknown(), kLeaseJobs);
  for (LeasedJob& job : leased) options_.start(std::move(job));
  return !leased.empty();
}

bool Scheduler::start_files(postgres::Session& session) {
  if (!has_room()) return false;
  std::vector<LeasedJob> leased = lease(session, Place::file(), kLeaseJobs);
  for (LeasedJob& job : leased) options_.start(std::move(job));
  return !leased.empty();
}

bool Scheduler::start_at_hosts(postgres::Session& session) {
  if (!has_room()) return false;
  const Timestamp now = clock_.now();
  const std::vector<std::string> hosts = options_.only.empty()
                                             ? due_hosts(session, now, kHostsAtOnce, last_host_)
                                             : due_hosts_of(session, options_.only, now);
  // A poll reads at most kHostsAtOnce hosts. The next poll continues after the last of these hosts.
  last_host_ = hosts.size() < kHostsAtOnce ? std::string() : hosts.back();
  if (hosts.empty()) return false;
  const std::vector<std::string> configured = operator_hosts(session);
  bool any = false;
  for (const HostSlots& slots : limits_.free_slots(hosts, monotonic_.now())) {
    const bool is_configured = std::binary_search(configured.begin(), configured.end(), slots.host);
    for (LeasedJob& job : lease(session, Place::at(slots.host), slots.count)) {
      any = true;
      if (is_configured) job.host_origin = transport::HostOrigin::configured;
      job.started_at = monotonic_.now();
      limits_.started(slots.host, job.started_at);
      options_.start(std::move(job));
    }
  }
  return any;
}

}  // namespace skua::backfill
