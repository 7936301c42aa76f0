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
#include "backfill/repository/repo_answer.hpp"
#include "base/time.hpp"
#include "store/session.hpp"
#include "transport/http_client.hpp"

namespace skua::backfill {

/// Counters since the start; only the last one can decrease.
struct DiscoveryMetrics {
  std::uint64_t pages = 0;
  /// Active accounts on lists; an account may be on several lists.
  std::uint64_t accounts = 0;
  std::uint64_t inactive = 0;
  /// Hosts that relays listed, except those that the relay calls offline or banned.
  std::uint64_t hosts = 0;
  /// Entries that cannot be used.
  std::uint64_t refused = 0;
  /// Entries of downloaded pages that were skipped, because their list is far longer than its host
  /// announced (most_entries).
  std::uint64_t surplus = 0;
  /// Accounts whose repositories are complete at the listed revision: they get no job.
  std::uint64_t current = 0;
  /// Repositories that an audit found behind the revision on their host.
  std::uint64_t behind = 0;
  /// Jobs that resulted from these lists.
  std::uint64_t queued = 0;
  /// Pages that could not be read and will be requested again.
  std::uint64_t failed = 0;
  std::uint64_t postponed = 0;
  /// Lists that are being read.
  std::size_t under_way = 0;
};

/// Reads the lists of `skua.backfill_hosts`, several at once, each page by page. Hosts of a relay
/// become lists; accounts become jobs, or an audit compares them with the stored state (audit.hpp).
/// One transaction stores a page's results and the position of the next page, so that after a kill
/// another process continues without a gap. A list fails permanently after some failures in a row,
/// or if it exceeds `most_entries`; a failure of the database is retried forever.
///
/// Has its own threads. While there is something to read, each has a database session of its own.
/// Owned by Backfiller.
class Discoverer {
 public:
  struct Options {
    std::string database_url;
    /// The name of this process in leases, as for jobs (JobTable).
    std::string holder;
    /// Whether hosts on a relay's list may be loopback addresses.
    bool allow_private_hosts = false;
    /// Lists that are read at once.
    std::size_t threads = 4;
    /// Starts audits and reads their lists; nothing: reads the lists of backfills.
    std::optional<AuditOptions> audit = std::nullopt;
    /// Jobs were added. Called on any of the threads.
    std::function<void()> on_jobs = [] {};
    std::function<void(const std::string& what)> on_defect;
  };

  /// The client and the clock must outlive it.
  Discoverer(Options options, transport::HttpClient& http, const Clock& clock);
  ~Discoverer();

  void start();
  /// From now on the results of requests are ignored.
  void request_stop();
  /// Ends the threads and releases the lists. Active requests must have been ended before, by
  /// stopping their client. Idempotent.
  void stop();

  /// Lists were added.
  void notify();
  /// All lists, including those of other processes, are complete or have failed permanently.
  bool is_idle() const;
  DiscoveryMetrics metrics() const;

 private:
  struct Counters {
    std::atomic<std::uint64_t> pages{0};
    std::atomic<std::uint64_t> accounts{0};
    std::atomic<std::uint64_t> inactive{0};
    std::atomic<std::uint64_t> hosts{0};
    std::atomic<std::uint64_t> refused{0};
    std::atomic<std::uint64_t> surplus{0};
    std::atomic<std::uint64_t> current{0};
    std::atomic<std::uint64_t> behind{0};
    std::atomic<std::uint64_t> queued{0};
    std::atomic<std::uint64_t> failed{0};
    std::atomic<std::uint64_t> postponed{0};
  };

  /// `first`: this thread checks for lists for all threads; the others wait while there are none.
  void run(const std::stop_token& stop, bool first);
  /// False: no list is due.
  bool read_one(store::Session& session, const std::stop_token& stop);
  /// False: the attempt was interrupted, and this process still leases the list.
  template <class Page>
  bool read(store::Session& session, const ClaimedList& claimed, const std::stop_token& stop);
  /// Waits until a page may be requested. False: a stop was requested.
  bool wait_for_page_interval(const std::stop_token& stop);
  void failed(store::Session& session, const HostList& list, const RequestFailed& failure);
  /// `left`: the number of entries to accept. False: another process leases the list, or it has
  /// failed permanently.
  template <class Page>
  bool keep(store::Session& session, const ClaimedList& claimed, Page page, std::int64_t left);
  /// The outcome for the accounts of a page.
  struct KeptRepos {
    std::size_t current = 0;
    std::size_t queued = 0;
    std::size_t behind = 0;
  };
  KeptRepos keep_repos(store::Session& session, const HostList& list,
                       const std::vector<ListedRepo>& repos);
  void give_up(store::Session& session, const HostList& list);
  void rest(const std::stop_token& stop, bool first, bool was_down);
  ListPurpose purpose() const {
    return options_.audit ? ListPurpose::Audit : ListPurpose::Backfill;
  }
  Claim claim() const { return {options_.holder, clock_.now()}; }

  const Options options_;
  transport::HttpClient& http_;
  const Clock& clock_;
  Counters counters_;
  std::atomic<bool> idle_{false};
  /// Threads that may have something to read or to report.
  std::atomic<std::size_t> busy_{0};
  /// Lists that this process leases.
  std::atomic<std::size_t> held_{0};
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  /// Counts notifications.
  std::uint64_t notifications_ = 0;
  /// When the next page may be requested.
  std::chrono::steady_clock::time_point next_page_at_{};
  std::vector<std::jthread> threads_;
};

}  // namespace skua::backfill
