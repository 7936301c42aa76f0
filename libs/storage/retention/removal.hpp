#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/metric.hpp"
#include "base/time.hpp"
#include "filter/filter_watch.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "tables/filter_table.hpp"

namespace skua::retention {

/// The metrics of removals. One thread writes them, and any thread reads them.
struct RemovalMetrics {
  Counter expired{"retention_removed_rows", "skua_retention_removed_rows_total", "rows",
                  "Rows older than the retention of their collection that were removed"};
  Counter excluded{"excluded_removed_rows", "skua_excluded_removed_rows_total", "rows",
                   "Rows of excluded accounts that were removed"};
  Counter purged{
      "purged_rows", "skua_purged_rows_total", "rows",
      "Rows of deleted accounts that a thread deleted; the worker that writes a deletion "
      "deletes up to 5,000"};
};

/// Deletes up to 5,000 rows of each account in `skua.purges` (writer/account_changes.hpp). Ends
/// early if `stop` is requested. Returns the number of rows. It is 0 if none is left, or if other
/// transactions lock all these accounts. Call it outside of a transaction, like all functions of
/// this file. Throws postgres::SqlError.
std::size_t purge_deleted(postgres::Session& session, const std::stop_token& stop,
                          RemovalMetrics& metrics);

/// When the rows of an excluded account are removed: after all processes know of the exclusion
/// (Usual), or at once (Now).
enum class Due : std::uint8_t { Usual, Now };

/// Removes the rows of up to a hundred excluded accounts that are due (`skua.excluded_accounts`).
/// Removes the rows once more ten minutes after the exclusion, for events that were in flight.
/// Returns the number of accounts. Throws postgres::SqlError.
std::size_t remove_excluded(postgres::Session& session, Due due, RemovalMetrics& metrics);

/// A row of `skua.retention`.
struct Rule {
  std::string collection;
  std::chrono::seconds keep{0};
  /// The start of the current or last pass.
  std::optional<Timestamp> pass_at;
  /// The number of rows that were removed so far.
  std::int64_t removed = 0;
};

/// Returns the rules, sorted by collection.
std::vector<Rule> read_rules(postgres::Session& session);

/// Returns the collection whose pass is under way or due. A pass is due an hour after the start of
/// the last one. Of several collections, it returns the one that has waited longest. Returns an
/// empty text if no pass is due.
std::string next_expiring(postgres::Session& session);

/// The result of a step of a pass.
struct ExpiryStep {
  /// Whether the pass has ended, or another process works on it.
  bool is_end = false;
  /// The number of bytes of the table that the step has read, and the size of the table.
  std::int64_t bytes = 0;
  std::int64_t table_bytes = 0;
};

/// Continues a pass through the table of a collection, or begins one: reads a megabyte of the
/// table, and removes up to a thousand rows that are older than the retention. A step is one
/// transaction, and writes its removals to the change log.
ExpiryStep expire_step(postgres::Session& session, const std::string& collection,
                       RemovalMetrics& metrics);

/// Removes old rows, and the rows of deleted and excluded accounts, while a process runs. It has a
/// thread and a connection of its own. Deleted accounts take turns of 5,000 rows. A pass through a
/// large table is spread over a day, so that it does not compete with the writers.
class Remover {
 public:
  /// `filter` outlives the Remover.
  Remover(postgres::Runtime& runtime, const filter::CurrentFilter& filter,
          std::chrono::milliseconds interval = std::chrono::seconds(10));

  void start() { thread_.start(); }
  /// Idempotent.
  void stop() { thread_.stop(); }

  const RemovalMetrics& metrics() const { return metrics_; }

 private:
  void remove(postgres::Session& session, const std::stop_token& stop);

  const filter::CurrentFilter& filter_;
  const std::chrono::milliseconds interval_;
  RemovalMetrics metrics_;
  postgres::SessionThread thread_;
};

/// Removes the records of accounts and collections that the filter leaves out from every table, and
/// adds an entry to the change log for each. Labels stay. A transaction removes a few thousand
/// rows. After an interruption a new call continues with the remaining rows. Returns the number of
/// rows. Call it outside of a transaction. Throws postgres::SqlError.
std::size_t prune(postgres::Session& session, const tables::Filter& filter);

}  // namespace skua::retention
