#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backfill/queue/job_table.hpp"
#include "postgres/session.hpp"

namespace skua::backfill {

// A requested resync may replace any stored row, and reports its changes. All functions of this
// file throw postgres::SqlError.

/// Lowers the newest revisions of an account's rows by one. A CAR of the same revision can then
/// replace rows that differ from it, and remove rows that it does not contain. Without this step,
/// an equal revision changes nothing. Correct rows lose nothing, because no event lies between the
/// two revisions. Each transaction updates some thousand rows with the account's locks, so call it
/// outside of a transaction. Returns the number of updated rows, or 0 for an unknown account.
std::size_t lower_newest_revs(postgres::Session& session, const std::string& did);

/// Requests a resync of accounts that may replace any stored row: calls `lower_newest_revs` and
/// adds a job, due now, for each account. `skua run` or `skua backfill` executes the jobs. Call it
/// outside of a transaction.
void request_resync(postgres::Session& session, std::span<const NewJob> jobs);

/// The differences between the rows of an account at two times.
struct RowsChanged {
  std::string did;
  std::int64_t stored = 0;
  std::int64_t added = 0;
  std::int64_t removed = 0;
  /// The number of rows with another record (by its CID) under the same key.
  std::int64_t replaced = 0;
};

/// Stores the keys and CIDs of the accounts' rows in a temporary table of this session, and
/// replaces its previous content. It reads all rows of the accounts.
void remember_rows(postgres::Session& session, std::span<const std::string> dids);

/// Compares the stored rows with the rows that this session remembers. Returns one item for each
/// account, sorted by DID. Changes by other sources count, too.
std::vector<RowsChanged> rows_changed(postgres::Session& session,
                                      std::span<const std::string> dids);

}  // namespace skua::backfill
