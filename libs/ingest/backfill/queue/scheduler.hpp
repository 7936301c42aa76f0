#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "atproto/account_group.hpp"
#include "backfill/backfill_counters.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/queue/job_leases.hpp"
#include "base/shares.hpp"
#include "base/time.hpp"
#include "postgres/session.hpp"
#include "tables/filter_table.hpp"

namespace skua::backfill {

/// Decides when jobs start. It leases due jobs while hosts, memory and the number of open jobs
/// allow, renews the leases, and reclaims jobs of processes that have ended. It also queues
/// repositories that need a resync, and jobs that are retried rarely. One thread owns and calls it.
/// It does not wait.
class Scheduler {
 public:
  struct Options {
    /// The lease owner (see job_table.hpp).
    std::string lease_owner = {};
    /// Whether jobs without a host are leased, to find the host.
    bool finds_hosts = true;
    HostLimitsOptions limits = {};
    /// The size of CARs in memory from which no job starts that needs memory.
    std::size_t held_bytes = std::size_t{256} << 20;
    /// Whether repositories that need a resync are queued.
    bool resync = false;
    /// If it is not empty, only jobs of these accounts are leased.
    std::vector<std::string> only = {};
    /// Starts a job. The function must not end the job before it returns.
    std::function<void(LeasedJob)> start = {};
  };

  /// `clock` is for times in the database, and `monotonic` for waits inside this process. The
  /// clocks and the counters outlive the scheduler.
  Scheduler(Options options, const Clock& clock, const Clock& monotonic,
            BackfillCounters& counters);

  /// Does everything that is due. It polls the queue for due jobs if `at_once` is true, or if a job
  /// has ended or a slot is free since the last poll. It also polls a second after a poll that
  /// found none. Throws postgres::SqlError, and may then be called again.
  void tick(postgres::Session& session, bool at_once);

  /// Reports that the slot of a job's host is free again. Call it once for each job with a host.
  void release_slot(const LeasedJob& leased, HostOutcome outcome);
  /// Reports that a job has ended. Do not call it for a job that keeps its lease because the
  /// process stops.
  void closed(const Job& job);

  /// Whether no job was open, queued or running at the last poll.
  bool is_idle() const { return is_idle_; }
  /// Returns the busiest hosts. The ends of their waits are times of `clock`.
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
  // The times of these members are times of `monotonic_`.
  Shares resyncs_of_account_;
  Shares resyncs_of_site_;
  /// The number of open jobs without a host.
  std::size_t open_unknown_ = 0;
  /// The last host of the last poll, if there are more hosts than one poll reads.
  std::string last_host_;
  /// The filter of the last lease.
  std::shared_ptr<const tables::Filter> filter_;
  /// The groups that the database owns, after the first lease.
  std::optional<atproto::GroupSet> owned_;
  bool has_reclaimed_orphans_ = false;
  bool is_idle_ = false;
  // The times of these members are times of `monotonic_`.
  Timestamp next_renewal_;
  Timestamp next_resync_;
  Timestamp next_rare_retries_;
  Timestamp next_poll_;
};

}  // namespace skua::backfill
