#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backfill/discovery/audit.hpp"
#include "backfill/discovery/discoverer.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/queue/job_table.hpp"
#include "backfill/repository/fetcher.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"
#include "writer/worker_pool.hpp"

namespace skua::backfill {

struct BackfillerOptions {
  std::string database_url;
  /// Names this process in jobs: store::process_name.
  std::string holder;
  /// Who signs for accounts and where they live; empty: hosts are where jobs say, and nothing is
  /// checked.
  FindDocument find_document;
  /// Why it failed, for people; empty: the error's own message.
  DocumentFailure document_failure = {};
  /// False: signatures are not checked.
  bool verify = true;
  HostLimitsOptions limits;
  /// `max_at_once` and `idle_of_one_origin` follow from the limits.
  transport::HttpClientOptions http;
  std::size_t reader_threads = 2;
  /// Of records that wait for workers.
  std::size_t chunk_bytes = std::size_t{48} << 20;
  /// Of CARs.
  std::size_t held_bytes = std::size_t{256} << 20;
  /// Longer CARs are not downloaded.
  std::size_t largest_repository = kLargestRepository;
  /// Whether repositories that wait for a resync are queued by themselves.
  bool resync = false;
  /// Nothing: there are no audits.
  std::optional<AuditOptions> audit = std::nullopt;
  /// Works on the jobs of these accounts alone, and on no list; empty: on all.
  std::vector<std::string> only = {};
  /// Attempts after which a job is given up.
  int max_attempts = kMaxAttempts;
  /// By which jobs are due and leased: one that all processes of the database share. Null: the
  /// backfiller's. Outlives it.
  const Clock* jobs_clock = nullptr;
};

/// What a backfill did since it started; all but jobs in hand and hosts only grow.
struct BackfillMetrics {
  std::uint64_t repositories = 0;
  std::uint64_t records = 0;
  std::uint64_t rows = 0;
  std::uint64_t removed = 0;
  std::uint64_t bytes = 0;
  /// Attempts.
  std::uint64_t failed = 0;
  /// Jobs that are not tried again.
  std::uint64_t given_up = 0;
  std::uint64_t unavailable = 0;
  std::uint64_t postponed = 0;
  std::uint64_t dead_letters = 0;
  std::uint64_t transactions = 0;
  /// Jobs that were begun and have not ended.
  std::size_t in_hand = 0;
  std::vector<HostMetrics> hosts;
  DiscoveryMetrics discovery;
};

/// Works on the queue of jobs (JobTable) until it is stopped: fetches, checks and writes whole
/// repositories; and reads the lists that name more of them (Discoverer). Several processes may do
/// so on one database. The composition of this library; owned and called by one thread, but for
/// `metrics` and `is_idle`.
class Backfiller {
 public:
  /// Called before `pool` starts. The pool and the clock outlive it. `on_defect` is called after a
  /// fatal error, from any thread.
  Backfiller(BackfillerOptions options, writer::WorkerPool& pool, const Clock& clock,
             std::function<void(const std::string&)> on_defect);
  ~Backfiller();

  void start();
  /// Ends downloads and lists: no more chunks go to the pool. The lookup of documents must have
  /// been stopped before, or answer without waiting. Idempotent.
  void close();
  /// After `close`, and after the pool has ended: returns the jobs that have not ended to the
  /// queue. Takes as long as a transaction may take. Idempotent.
  void stop();

  /// Jobs or lists were added.
  void notify();
  /// No job and no list is queued, waiting ones included, and none is under way; with `only`: no
  /// job of those accounts, whoever has it.
  bool is_idle() const;
  BackfillMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::backfill
