#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "backfill/discovery/audit.hpp"
#include "backfill/discovery/discovery.hpp"
#include "backfill/discovery/host_table.hpp"
#include "backfill/discovery/list_table.hpp"
#include "backfill/repository/download.hpp"
#include "base/metric.hpp"
#include "base/time.hpp"
#include "postgres/runtime.hpp"
#include "postgres/session.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// The metrics of a discovery since it started. Any thread may use them.
struct DiscoveryMetrics {
  Counter pages{"pages", "skua_backfill_list_pages_total", "pages",
                "Pages of lists that were read"};
  Counter accounts{"accounts", "skua_backfill_listed_accounts_total", "accounts",
                   "Active accounts in lists; an account may be in several"};
  Counter inactive{"accounts_inactive", "skua_backfill_inactive_accounts_total", "accounts",
                   "Accounts in lists that are not active"};
  Counter hosts{"hosts_listed", "skua_backfill_listed_hosts_total", "hosts",
                "Hosts that relays name, without those that they report as gone or banned"};
  Counter refused{"entries_refused", "skua_backfill_refused_entries_total", "entries",
                  "Entries of lists that cannot be used"};
  Counter surplus{"entries_surplus", "skua_backfill_surplus_entries_total", "entries",
                  "Entries that were left out because their list is far longer than its host "
                  "announced"};
  Counter current{"accounts_current", "skua_backfill_current_accounts_total", "accounts",
                  "Accounts whose repositories are complete as of the listed revision: they get no "
                  "job"};
  Counter foreign{"accounts_foreign", "skua_backfill_foreign_accounts_total", "accounts",
                  "Accounts whose group the database does not own: they get no job"};
  Counter behind{"", "skua_audit_outdated_repositories_total", "repositories",
                 "Repositories that an audit found older than their hosts list"};
  Counter queued{"", "skua_backfill_queued_jobs_total", "jobs", "Jobs that lists added"};
  Counter failed{"pages_failed", "skua_backfill_failed_pages_total", "pages",
                 "Pages that could not be read"};
  Counter postponed{"pages_postponed", "skua_backfill_postponed_pages_total", "pages",
                    "Pages that were postponed because the host limits the rate"};
  Gauge under_way{"lists_under_way", "skua_backfill_active_lists", "lists",
                  "Lists that are being read"};
};

/// Reads the lists of `skua.backfill_hosts`, several at once, each page by page. Hosts of a relay
/// become lists. Accounts become jobs, or an audit compares them with the stored state (audit.hpp).
/// One transaction stores the results of a page and the position of the next page, so that after a
/// kill another process continues without a gap. A list fails permanently after some failures in a
/// row, or if it exceeds `most_entries`. A failure of the database is retried forever.
///
/// It has threads of its own. While there is something to read, each has a database session of its
/// own. Backfiller owns it.
class Discoverer {
 public:
  struct Options {
    /// The name of this process in leases, as for jobs (JobTable).
    std::string lease_owner;
    /// Whether hosts on a relay's list may be loopback addresses.
    bool allow_private_hosts = false;
    /// The number of lists that are read at once.
    std::size_t threads = 4;
    /// If set, the discoverer starts audits and reads their lists. Otherwise it reads the lists of
    /// backfills.
    std::optional<AuditOptions> audit = std::nullopt;
    /// Reports that jobs were added. It is called on any of the threads.
    std::function<void()> on_jobs = [] {};
  };

  /// The client must outlive the discoverer.
  Discoverer(postgres::Runtime& runtime, Options options, transport::HttpClient& http);
  ~Discoverer();

  void start();
  /// Makes the threads ignore the results of requests from now on.
  void request_stop();
  /// Ends the threads and releases the lists. The client must have been stopped before, which ends
  /// the active requests. Idempotent.
  void stop();

  /// Reports that lists were added.
  void notify();
  /// Whether all lists, including lists of other processes, are complete or have failed
  /// permanently.
  bool is_idle() const;
  DiscoveryMetrics metrics() const;

 private:
  /// If `first` is true, this thread checks for lists for all threads. The others wait while there
  /// are none.
  void run(const std::stop_token& stop, bool first);
  /// Returns false if no list is due.
  bool read_one(postgres::Session& session, const std::stop_token& stop);
  /// Returns false if the attempt was interrupted and this process still leases the list.
  template <class Page>
  bool read(postgres::Session& session, const LeasedList& leased, const std::stop_token& stop);
  /// Waits until a page may be requested. Returns false if a stop was requested.
  bool wait_for_page_interval(const std::stop_token& stop);
  void failed(postgres::Session& session, const HostList& list, const RequestFailed& failure);
  /// Stores the entries of a page and the position of the next page. `left` is the number of
  /// entries to accept. Surplus accounts are removed from the page. Returns false if another
  /// process leases the list, or the list has failed permanently.
  bool store_page(postgres::Session& session, const LeasedList& leased, const HostPage& page,
                  std::int64_t left);
  bool store_page(postgres::Session& session, const LeasedList& leased, RepoPage& page,
                  std::int64_t left);
  /// The numbers of accounts of a page, by outcome.
  struct StoredRepos {
    std::size_t foreign = 0;
    std::size_t current = 0;
    std::size_t queued = 0;
    std::size_t behind = 0;
  };
  StoredRepos store_repos(postgres::Session& session, const HostList& list,
                          const std::vector<ListedRepo>& repos);
  void abandon(postgres::Session& session, const HostList& list);
  void rest(const std::stop_token& stop, bool first, bool was_down);
  ListPurpose purpose() const {
    return options_.audit ? ListPurpose::Audit : ListPurpose::Backfill;
  }
  JobLeaseRequest lease_request() const { return {options_.lease_owner, clock_.now()}; }

  postgres::Runtime& runtime_;
  const Options options_;
  transport::HttpClient& http_;
  const Clock& clock_;
  /// The counters without the number of active lists.
  DiscoveryMetrics counters_;
  std::atomic<bool> idle_{false};
  /// The number of threads that may have something to read or to report.
  std::atomic<std::size_t> busy_{0};
  /// The number of lists that this process leases.
  std::atomic<std::size_t> held_{0};
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  /// The number of notifications.
  std::uint64_t notifications_ = 0;
  /// The time from which the next page may be requested.
  std::chrono::steady_clock::time_point next_page_at_{};
  std::vector<std::jthread> threads_;
};

}  // namespace skua::backfill
