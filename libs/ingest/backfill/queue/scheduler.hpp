#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backfill/backfill_counters.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/queue/job_leases.hpp"
#include "base/shares.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"
#include "tables/filter_table.hpp"

namespace skua::backfill {

/// Decides when jobs start: it leases due jobs while hosts, memory and the number of open jobs
/// allow, renews the leases, reclaims jobs of processes that have ended, and queues repositories
/// that need a resync and jobs that are retried rarely. Owned and called by one thread; does not
/// wait.
class Scheduler {
 public:
  struct Options {
    /// The lease owner (see job_table.hpp).
    std::string lease_owner = {};
    /// Whether jobs without a host are leased, to look for it.
    bool finds_hosts = true;
    HostLimitsOptions limits = {};
    /// No job that needs memory starts while CARs take this much.
    std::size_t held_bytes = std::size_t{256} << 20;
    /// Whether repositories that need a resync are queued.
    bool resync = false;
    /// Only jobs of these accounts; empty: of all.
    std::vector<std::string> only = {};
    /// Starts a job; must not end it before it returns.
    std::function<void(LeasedJob)> start = {};
  };

  /// `clock`: for times in the database. `monotonic`: for waits inside this process. The clocks and
  /// the counters outlive it.
  Scheduler(Options options, const Clock& clock, const Clock& monotonic,
            BackfillCounters& counters);

  /// Does all that is due. Polls the queue for due jobs if `at_once`, if a job has ended or a slot
  /// is free since the last poll, or a second after a poll that found none. Throws
  /// postgres::SqlError and may then be called again.
  void tick(postgres::Session& session, bool at_once);

  /// The slot of a job's host is free again. Once for each job with a host.
  void release_slot(const LeasedJob& leased, HostOutcome outcome);
  /// A job has ended. Not called for jobs that keep their lease because the process stops.
  void closed(const Job& job);

  /// At the last poll no job was open, queued or running.
  bool is_idle() const { return is_idle_; }
  /// The busiest hosts. Waits end by `clock`.
  std::vector<HostMetrics> host_metrics() const;

 private:
  void reclaim_orphans(postgres::Session& session);
  void keep_leases(postgres::Session& session);
  void queue_resyncs(postgres::Session& session);
  void queue_rare_retries(postgres::Session& session);
  bool has_room() const;
  std::vector<LeasedJob> lease(postgres::Session& session, const Place& place, std::size_t limit);
  bool start_unknown(postgres::Session& session);
  bool start_files(postgres::Session& session);
  bool start_at_hosts(postgres::Session& session);

  const Options options_;
  const Clock& clock_;
  const Clock& monotonic_;
  BackfillCounters& counters_;
  HostLimits limits_;
  // By `monotonic_`.
  Shares resyncs_of_account_;
  Shares resyncs_of_site_;
  /// Open jobs without a host.
  std::size_t open_unknown_ = 0;
  /// The last host of the last poll, if there are more hosts than one poll reads.
  std::string last_host_;
  /// The filter of the last lease.
  std::shared_ptr<const tables::Filter> filter_;
  bool has_reclaimed_orphans_ = false;
  bool is_idle_ = false;
  // By `monotonic_`.
  Timestamp next_renewal_;
  Timestamp next_resync_;
  Timestamp next_rare_retries_;
  Timestamp next_poll_;
};

}  // namespace skua::backfill
