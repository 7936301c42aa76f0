#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backfill/backfill_counters.hpp"
#include "backfill/discovery/audit.hpp"
#include "backfill/discovery/discoverer.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill/repository/held_car.hpp"
#include "backfill/repository/job_runner.hpp"
#include "postgres/runtime.hpp"
#include "transport/http_client.hpp"
#include "writer/worker_pool.hpp"

namespace skua::backfill {

struct BackfillerOptions {
  /// The name of this process in job leases: postgres::process_name.
  std::string lease_owner;
  /// Finds the signing keys and hosts of accounts; empty: jobs name the hosts, and nothing is
  /// checked.
  FindAccount find_account;
  /// The reason of a failure, for people; empty: the error's own message.
  AccountFailure account_failure = {};
  /// False: signatures are not checked.
  bool verify = true;
  HostLimitsOptions limits;
  /// `max_at_once` and `idle_of_one_origin` follow from the limits.
  transport::HttpClientOptions http;
  std::size_t reader_threads = 2;
  /// The limit for records that wait for workers.
  std::size_t chunk_bytes = std::size_t{48} << 20;
  /// The limit for CARs in memory.
  std::size_t held_bytes = std::size_t{256} << 20;
  /// Longer CARs are not downloaded.
  std::size_t largest_repository = kLargestRepository;
  /// Whether repositories that wait for a resync are queued automatically.
  bool resync = false;
  /// Nothing: there are no audits.
  std::optional<AuditOptions> audit = std::nullopt;
  /// Works only on the jobs of these accounts, and reads no lists; empty: all jobs and lists.
  std::vector<std::string> only = {};
  /// After this many attempts a job fails permanently.
  int max_attempts = kMaxAttempts;
};

/// The metrics of a backfill since it started.
struct BackfillMetrics : BackfillCounters {
  std::vector<HostMetrics> hosts = {};
  DiscoveryMetrics discovery = {};
};

/// Works on the queue of jobs (JobTable) until it is stopped: downloads, checks and writes whole
/// repositories, and reads the lists that name more of them (Discoverer). Several processes may do
/// this on one database. Composes the parts of this library; one thread owns and calls it, except
/// for `metrics` and `is_idle`.
class Backfiller {
 public:
  /// Call it before `pool` starts. The pool must outlive it.
  Backfiller(postgres::Runtime& runtime, BackfillerOptions options, writer::WorkerPool& pool);
  ~Backfiller();

  void start();
  /// Ends downloads and lists: no more chunks go to the pool. The look-up of documents must have
  /// been stopped before, or answer without waiting. Idempotent.
  void close();
  /// Call it after `close` and after the pool has ended: returns unfinished jobs to the queue. May
  /// take as long as a transaction. Idempotent.
  void stop();

  /// Jobs or lists were added.
  void notify();
  /// No job and no list is queued, waiting or active. With `only`: no job of those accounts is, in
  /// any process.
  bool is_idle() const;
  BackfillMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::backfill
