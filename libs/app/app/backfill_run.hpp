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
#include "postgres/session.hpp"
#include "status/backfill_monitor.hpp"
#include "status/backfill_text.hpp"
#include "writer/worker_pool.hpp"

namespace skua::app {

/// A backfill, and the monitor that saves and shows its metrics. Owned by `Indexer` or
/// `BackfillRun`; `pool` must outlive it. Both members work on their own threads.
struct MonitoredBackfill {
  backfill::Backfiller backfiller;
  status::BackfillMonitor monitor;

  MonitoredBackfill(postgres::Runtime& runtime, backfill::BackfillerOptions options,
                    writer::WorkerPool& pool);

  void start();
  void stop();
};

/// Finds DID documents with an AccountSource, which must outlive the result. Each document is
/// requested once, because a failed job is repeated as a whole.
backfill::FindAccount find_accounts(accounts::AccountSource& accounts);

/// The options of downloads of repositories. The defaults suit the live network.
struct BackfillOptions {
  /// If false, signatures are not checked.
  bool verify = true;
  backfill::HostLimitsOptions limits;
  std::string ca_file;
  bool allow_private_hosts = false;
  std::size_t reader_threads = 2;
  /// The largest CAR file that is downloaded, in bytes.
  std::size_t largest_repository = backfill::kLargestRepository;
  /// The options of audits; nothing if there are no audits.
  std::optional<backfill::AuditOptions> audit = std::nullopt;
  /// Only the jobs of these accounts are processed. If the list is empty, all jobs and lists are.
  std::vector<std::string> only = {};
  /// A job fails after this number of attempts.
  int max_attempts = backfill::kMaxAttempts;
};

/// Derives the options of a Backfiller. `accounts` gives keys and hosts, and must outlive the
/// Backfiller. postgres::process_name describes `role`.
backfill::BackfillerOptions backfiller_options(const BackfillOptions& options,
                                               const std::string& role,
                                               accounts::AccountSource& accounts);

struct BackfillRunOptions {
  std::string database_url;
  Durability durability = Durability::Needed;
  BackfillOptions backfill;
  /// The source of keys and hosts.
  std::unique_ptr<accounts::AccountSource> accounts;
  /// The DNS server for the verification of handles. If it is nothing, the most recent claim counts
  /// without verification.
  std::optional<documents::DnsServer> check_handles;
  /// True if no process writes from a live source to the database, because a bootstrap has begun.
  bool is_alone = false;
};

/// `skua backfill`: processes the queue of jobs. Creates the parts, and stops them in order. One
/// thread owns it and calls its functions; any thread may call the const functions.
class BackfillRun {
 public:
  /// Throws postgres::SqlError, or std::runtime_error with a message for the user if the database
  /// has no schema or its lock table is too small.
  BackfillRun(BackfillRunOptions options, const Clock& clock);
  ~BackfillRun();

  /// Returns the lease owner of this process's jobs (backfill/queue/job_table.hpp).
  static std::string lease_owner();

  void start();
  /// Stops the parts, and returns active jobs to the queue. Idempotent.
  void stop();
  void notify();
  bool is_idle() const;
  backfill::BackfillMetrics metrics() const;
  /// Returns the metrics, and the queue as it was counted some seconds ago.
  status::BackfillSnapshot moment() const;
  /// Returns why the process must stop; nothing if it can continue.
  std::optional<std::string> reason_to_stop() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::app
