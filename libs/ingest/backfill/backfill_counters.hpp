#pragma once

#include "base/metric.hpp"

namespace skua::backfill {

/// The metrics of the jobs of this process since it started. The parts of the backfill count on
/// them. The writer counts some of them, and `Backfiller::metrics` copies those. Any thread may use
/// them.
struct BackfillCounters {
  Counter repositories{"repositories", "skua_backfill_repositories_total", "repositories",
                       "Repositories that a backfill has indexed"};
  /// The writer counts it.
  Counter records{"records", "skua_backfill_records_total", "records",
                  "Records of repositories that workers finished"};
  /// The writer counts it.
  Counter rows{"rows", "skua_backfill_rows_total", "rows",
               "Rows that a backfill inserted, changed or deleted"};
  Counter removed{"removed", "skua_backfill_removed_rows_total", "rows",
                  "Rows that were deleted because the repository does not contain their record"};
  Counter bytes{"bytes", "skua_backfill_downloaded_bytes_total", "bytes",
                "Size of the downloaded repositories"};
  Counter failed{"failed", "skua_backfill_failed_attempts_total", "attempts",
                 "Attempts at a repository that failed"};
  Counter abandoned{"abandoned", "skua_backfill_abandoned_jobs_total", "jobs",
                    "Jobs that failed for good"};
  Counter unavailable{"unavailable", "skua_backfill_unavailable_repositories_total", "repositories",
                      "Repositories that no host serves"};
  Counter postponed{"postponed", "skua_backfill_postponed_jobs_total", "jobs",
                    "Jobs that were postponed because a host limits the rate or space is short"};
  /// The writer counts it.
  Counter dead_letters{"dead_letters", "skua_backfill_dead_letters_total", "records",
                       "Records of repositories that became dead letters"};
  /// The writer counts it.
  Counter transactions{"transactions", "skua_backfill_transactions_total", "transactions",
                       "Transactions of a backfill that were committed"};
  Gauge in_hand{"in_hand", "skua_backfill_active_jobs", "jobs",
                "Jobs that this process has leased and not ended"};
  /// The size of the CARs that are in memory or mapped now, including the received part of active
  /// downloads. It is not a metric.
  Count held_bytes = {};
};

}  // namespace skua::backfill
