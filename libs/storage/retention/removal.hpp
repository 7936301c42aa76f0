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

/// Metrics of removals. Written by one thread, read by any thread.
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
/// early if `stop` is requested. Returns the number of rows; 0: none is left, or other transactions
/// lock all these accounts. Outside a transaction, as all here. Throws postgres::SqlError.
std::size_t purge_deleted(postgres::Session& session, const std::stop_token& stop,
                          RemovalMetrics& metrics);

/// When an excluded account is due: once all processes know of the exclusion, or at once.
enum class Due : std::uint8_t { Usual, Now };

/// Removes the rows of excluded accounts that are due (`skua.excluded_accounts`), up to a hundred
/// accounts; ten minutes after the exclusion once more, for events that were in flight. Returns the
/// number of accounts. Throws postgres::SqlError.
std::size_t remove_excluded(postgres::Session& session, Due due, RemovalMetrics& metrics);

/// A row of `skua.retention`.
struct Rule {
  std::string collection;
  std::chrono::seconds keep{0};
  /// The start of the present or last pass.
  std::optional<Timestamp> pass_at;
  /// The number of rows that were removed so far.
  std::int64_t removed = 0;
};

/// Sorted by collection.
std::vector<Rule> read_rules(postgres::Session& session);

/// The collection whose next pass is due, an hour after the last one began, or under way; the one
/// that waits longest; empty: none is.
std::string next_expiring(postgres::Session& session);

/// What a step of a pass did.
struct ExpiryStep {
  /// The pass is at its end, or another process works on it.
  bool is_end = false;
  /// The part of the table that the step has read, and its size.
  std::int64_t bytes = 0;
  std::int64_t table_bytes = 0;
};

/// Continues a pass through the table of a collection, or begins one: reads a megabyte of the
/// table, and removes up to a thousand rows that are older than the retention. One transaction. The
/// removals are in the change log.
ExpiryStep expire_step(postgres::Session& session, const std::string& collection,
                       RemovalMetrics& metrics);

/// Removes the rows of deleted and excluded accounts and old rows while a process runs, on a thread
/// and a connection of its own. Deleted accounts take turns of 5,000 rows. A pass through a large
/// table is spread over a day, so that it does not compete with the writers.
class Remover {
 public:
  /// `filter` outlives it.
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

/// Removes the records of accounts and collections that the filter leaves out, from every table,
/// with an entry in the change log for each. Labels stay. Transactions of a few thousand rows;
/// after an interruption a new call continues with what is left. Returns the number of rows.
/// Outside a transaction. Throws postgres::SqlError.
std::size_t prune(postgres::Session& session, const tables::Filter& filter);

}  // namespace skua::retention
