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
#include "identity/txt_lookup.hpp"
#include "status/backfill_text.hpp"

namespace skua::app {

/// Finds documents where a source finds identities. The source outlives it.
backfill::FindDocument find_documents(accounts::AccountSource& accounts);

/// How whole repositories are brought in; the defaults are for the live network.
struct BackfillOptions {
  /// False: signatures are not checked.
  bool verify = true;
  backfill::HostLimitsOptions limits;
  std::string ca_file;
  bool allow_private_hosts = false;
  std::size_t reader_threads = 2;
  /// Longer CARs are not downloaded.
  std::size_t largest_repository = backfill::kLargestRepository;
  /// Nothing: there are no audits.
  std::optional<backfill::AuditOptions> audit = std::nullopt;
  /// Works on the jobs of these accounts alone; empty: on all, and on lists.
  std::vector<std::string> only = {};
  /// Attempts after which a job is given up.
  int max_attempts = backfill::kMaxAttempts;
};

/// `accounts`: who signs for them and where they live; it outlives the Backfiller. `role`: what
/// names its process, see store::process_name.
backfill::BackfillerOptions backfiller_options(const BackfillOptions& options,
                                               const std::string& database_url,
                                               const std::string& role,
                                               accounts::AccountSource& accounts);

struct BackfillRunOptions {
  std::string database_url;
  Durability durability = Durability::Needed;
  BackfillOptions backfill;
  /// Who signs for accounts and where they live.
  std::unique_ptr<accounts::AccountSource> accounts;
  /// The DNS server that handles are looked up at; nothing: the most recent
  /// claim counts without verification.
  std::optional<identity::DnsServer> check_handles;
  /// No live source of any process writes to the database: a bootstrap is open.
  bool is_alone = false;
};

/// `skua backfill`: works on the queue of jobs. The composition root: it makes the parts, and stops
/// them in order. Owned and called by one thread; the const functions by any.
class BackfillRun {
 public:
  /// Throws store::SqlError, or std::runtime_error in words for the user (no schema, lock table too
  /// small).
  BackfillRun(BackfillRunOptions options, const Clock& clock);
  ~BackfillRun();

  /// How this process is called in the jobs that it has (backfill/queue/job_table.hpp).
  static std::string holder();

  void start();
  /// What is under way is given back to the queue. Idempotent.
  void stop();
  void notify();
  bool is_idle() const;
  backfill::BackfillMetrics metrics() const;
  /// The same, and the queue as it was counted some seconds ago.
  status::BackfillSnapshot moment() const;
  /// Why the process must stop; nothing while all is well.
  std::optional<std::string> defect() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::app
