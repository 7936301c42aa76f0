#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/account_number.hpp"
#include "postgres/session.hpp"
#include "recheck/verdict.hpp"
#include "writer/table_writer.hpp"

namespace skua::recheck {

/// The rows to check.
struct RowScope {
  std::optional<AccountNumber> actor_id;
  std::optional<std::int32_t> collection_id;
  /// The number of rows that are chosen at random. Without a value all rows are checked.
  std::optional<std::size_t> sample;
};

/// A row whose record does not encode to its CID.
struct FaultyRow {
  const writer::TableWriter* table = nullptr;
  StoredRow row;
  std::string reason;

  std::string uri() const;
};

/// Returns the reason why the record of a row does not encode to the CID of the row, or nothing if
/// it does.
std::optional<std::string> row_fault(const StoredRow& row);

/// The progress of a check.
struct RowProgress {
  std::size_t rows = 0;
  /// The part of the tables that was read, from 0 to 1. Of a sample: the part of its rows.
  double part = 0;
};

/// Checks stored rows: each record is encoded again and compared with the CID of its row. Calls
/// `found` with each row that differs, and `progress` after each step of at most a thousand rows;
/// the check ends early if `progress` returns false. Reads without locks, and writes nothing.
/// Returns the number of checked rows. Throws postgres::SqlError. Call it outside of a transaction.
std::size_t check_rows(postgres::Session& session, const RowScope& scope,
                       const std::function<void(FaultyRow)>& found,
                       const std::function<bool(const RowProgress&)>& progress);

/// Replaces the CID of each row by zeros, so that a resync of its account replaces the row, and
/// consumers get the change. A row that has changed since the check stays. Takes the locks of the
/// accounts, for which it waits. Call it outside of a transaction. Returns the number of changed
/// rows. Throws postgres::SqlError.
std::size_t clear_cids(postgres::Session& session, std::span<const FaultyRow> rows);

}  // namespace skua::recheck
