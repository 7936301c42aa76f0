#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accounts/account_source.hpp"
#include "app/database.hpp"
#include "backfill/backfiller.hpp"
#include "backfill/hosts/host_limits.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/time.hpp"
#include "documents/handle_check.hpp"
#include "status/backfill_monitor.hpp"
#include "status/backfill_text.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {

/// A backfill, and the monitor that saves and shows its metrics. Owned by `Indexer` or
/// `BackfillRun`; `pool` must outlive it. The members do their work on threads of their own.
struct MonitoredBackfill {
  backfill::Backfiller backfiller;
  status::BackfillMonitor monitor;

  MonitoredBackfill(postgres::Runtime& runtime, backfill::BackfillerOptions options,
                    writer::WorkerPool& pool);

  void start();
  void stop();
};

/// Finds DID documents with an AccountSource, which outlives the result. Each document is requested
/// once, because a job is tried again after a failure.
backfill::FindAccount find_accounts(accounts::AccountSource& accounts);

/// How repositories are downloaded. The defaults suit the live network.
struct BackfillOptions {
  /// False: signatures are not checked.
  bool verify = true;
  backfill::HostLimitsOptions limits;
  std::string ca_file;
  bool allow_private_hosts = false;
  std::size_t reader_threads = 2;
  /// Larger CARs are not downloaded; in bytes.
  std::size_t largest_repository = backfill::kLargestRepository;
  /// Nothing: there are no audits.
  std::optional<backfill::AuditOptions> audit = std::nullopt;
  /// Process only the jobs of these accounts; empty: all jobs and lists.
  std::vector<std::string> only = {};
  /// Attempts after which a job fails.
  int max_attempts = backfill::kMaxAttempts;
};

/// `accounts`: gives keys and hosts; outlives the Backfiller. `role`: see postgres::process_name.
backfill::BackfillerOptions backfiller_options(const BackfillOptions& options,
                                               const std::string& role,
                                               accounts::AccountSource& accounts);

struct BackfillRunOptions {
  std::string database_url;
  Durability durability = Durability::Needed;
  BackfillOptions backfill;
  /// Gives keys and hosts.
  std::unique_ptr<accounts::AccountSource> accounts;
  /// The DNS server for the verification of handles; nothing: the most recent claim counts without
  /// verification.
  std::optional<documents::DnsServer> check_handles;
  /// No live source of any process writes to the database: a bootstrap has begun.
  bool is_alone = false;
};

/// `skua backfill`: processes the queue of jobs. Makes the parts, and stops them in order. Owned
/// and called by one thread; the const functions by any.
class BackfillRun {
 public:
  /// Throws postgres::SqlError, or std::runtime_error with a message for the user (no schema, lock
  /// table too small).
  BackfillRun(BackfillRunOptions options, const Clock& clock);
  ~BackfillRun();

  /// The lease owner of this process's jobs (backfill/queue/job_table.hpp).
  static std::string lease_owner();

  void start();
  /// Returns active jobs to the queue. Idempotent.
  void stop();
  void notify();
  bool is_idle() const;
  backfill::BackfillMetrics metrics() const;
  /// The metrics, and the queue as it was counted some seconds ago.
  status::BackfillSnapshot moment() const;
  /// Why the process must stop; nothing: it need not.
  std::optional<std::string> reason_to_stop() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::app
