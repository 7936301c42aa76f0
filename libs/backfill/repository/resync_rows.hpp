#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backfill/queue/job_table.hpp"
#include "store/session.hpp"

namespace skua::backfill {

// What a resync that somebody asked for does beside a job: makes sure that it may replace whatever
// is stored, and says what it changed. All throw store::SqlError.

/// Makes an account's rows of the newest revisions that are known of it one step older, so that a
/// CAR of that very revision replaces those that differ from it and removes those it does not hold:
/// otherwise an equal revision changes nothing. True rows lose nothing by it: no event lies between
/// the two steps. Some thousand rows a transaction, with the account's locks; outside of one.
/// Returns how many rows that were. An account that is not known has none.
std::size_t lower_newest_revs(store::Session& session, const std::string& did);

/// Requests a resync of accounts that may replace whatever is stored: `lower_newest_revs` of each,
/// and a job for each, due now. `skua run` or `skua backfill` executes the jobs. Outside of a
/// transaction.
void request_resync(store::Session& session, std::span<const NewJob> jobs);

/// What differs between two moments.
struct RowsChanged {
  std::string did;
  std::int64_t stored = 0;
  std::int64_t added = 0;
  std::int64_t removed = 0;
  /// Hold another record (by its CID) under the same key.
  std::int64_t replaced = 0;
};

/// Keeps which records are stored of the accounts, in a temporary table of this session, in place
/// of what was kept before. Reads all their rows.
void remember_rows(store::Session& session, std::span<const std::string> dids);

/// What is stored now beside what this session remembers, one item an account, sorted by DID. What
/// other sources brought in between counts like everything else.
std::vector<RowsChanged> rows_changed(store::Session& session, std::span<const std::string> dids);

}  // namespace skua::backfill
