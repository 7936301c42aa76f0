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
  /// Finds the signing keys and hosts of accounts. If it is empty, jobs name the hosts, and nothing
  /// is checked.
  FindAccount find_account;
  /// Returns the reason of a failure for users. If it is empty, the error's own message is used.
  AccountFailure account_failure = {};
  /// Whether signatures are checked.
  bool verify = true;
  HostLimitsOptions limits;
  /// The options of the client. `max_at_once` and `idle_of_one_origin` follow from the limits and
  /// are ignored.
  transport::HttpClientOptions http;
  std::size_t reader_threads = 2;
  /// The limit of the bytes of records that wait for workers.
  std::size_t chunk_bytes = std::size_t{48} << 20;
  /// The limit of the bytes of CARs in memory.
  std::size_t held_bytes = std::size_t{256} << 20;
  /// The limit of the bytes of one CAR. Longer CARs are not downloaded.
  std::size_t largest_repository = kLargestRepository;
  /// Whether repositories that wait for a resync are queued automatically.
  bool resync = false;
  /// The audits. Nothing means that there are none.
  std::optional<AuditOptions> audit = std::nullopt;
  /// If it is not empty, the backfill only works on the jobs of these accounts, and reads no lists.
  std::vector<std::string> only = {};
  /// The number of attempts after which a job fails permanently.
  int max_attempts = kMaxAttempts;
};

/// The metrics of a backfill since it started.
struct BackfillMetrics : BackfillCounters {
  std::vector<HostMetrics> hosts = {};
  DiscoveryMetrics discovery = {};
};

/// Works on the queue of jobs (JobTable) until it is stopped: downloads, checks and writes whole
/// repositories, and reads the lists that name more of them (Discoverer). Several processes may do
/// this on one database. It composes the parts of this library. One thread owns and calls it,
/// except for `metrics` and `is_idle`.
class Backfiller {
 public:
  /// Call it before `pool` starts. The pool must outlive the Backfiller.
  Backfiller(postgres::Runtime& runtime, BackfillerOptions options, writer::WorkerPool& pool);
  ~Backfiller();

  void start();
  /// Ends downloads and lists, so that no more chunks go to the pool. The look-up of documents must
  /// have been stopped before, or answer without waiting. Idempotent.
  void close();
  /// Returns unfinished jobs to the queue, which may take as long as a transaction. Call it after
  /// `close` and after the end of the pool. Idempotent.
  void stop();

  /// Reports that jobs or lists were added.
  void notify();
  /// Whether no job and no list is queued, waiting or active in any process. With `only`, it
  /// considers only the jobs of those accounts.
  bool is_idle() const;
  BackfillMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::backfill
