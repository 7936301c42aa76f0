#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "documents/identity_table.hpp"
#include "tables/cursor_store.hpp"
#include "transport/endpoint.hpp"

namespace skua::documents {

/// A longer line is not parsed. The directory refuses operations above some kilobytes.
inline constexpr std::size_t kMaxExportLineBytes = 64 * 1024;
/// An operation that is further ahead of our clock does not count: clocks differ by less.
inline constexpr std::chrono::minutes kExportClockSkew{5};

/// A line of a PLC directory's export (web.plc.directory/spec/v0.1/did-plc): the identity of an
/// account since `row.operation_at`. A tombstone has only the DID.
struct ExportLine {
  IdentityRow row;
  /// Of the operation; empty: the line has none that has the form of one.
  std::string cid;
  /// Struck out by a later operation: it does not count.
  bool nullified = false;
};

/// Reads one line. Operations of type plc_operation, create (the legacy form) and plc_tombstone;
/// parts that cannot be used (a key of another kind, a PDS that is no URL) are left empty. Of a key
/// only the form is looked at, not whether its curve has such a point. Error: export_line.
Result<ExportLine> parse_export_line(std::string_view line);

/// The place of an operation in the export.
struct ExportPosition {
  Timestamp created_at;
  std::string cid;
};

/// The place of a line that `parse_export_line` refuses, such as one with an operation of an
/// unknown type; nothing: the line does not tell.
std::optional<ExportPosition> export_position(std::string_view line);

/// Operations of an export, of which the newest of each DID counts, whatever their order. One
/// thread.
class NewestOperations {
 public:
  /// Takes an operation that is not nullified, with `operation_at`.
  void add(IdentityRow row);

  /// The number of DIDs.
  std::size_t size() const { return rows_.size(); }

  /// One row for each DID, for import_identities, and none left. `fetched_at`: of all rows.
  std::vector<IdentityRow> take(Timestamp fetched_at);

 private:
  std::unordered_map<std::string, IdentityRow, SeededHash> rows_;
};

/// The number of lines of a page that is requested, the most that the directory gives.
inline constexpr std::size_t kExportPageLines = 1000;

/// The address of the page with the operations made after a time, from the address of a directory
/// or of its export. The epoch: the first page.
std::string export_url(transport::Endpoint endpoint, Timestamp after);

/// Calls `use` with each line of a page that is not empty, without its end.
template <class Use>
void for_each_line(std::string_view body, Use&& use) {
  while (!body.empty()) {
    const auto end = std::min(body.find('\n'), body.size());
    if (end > 0) use(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
  }
}

/// Why a line of the export is not applied.
enum class ExportDrop : std::uint8_t {
  /// Longer than kMaxExportLineBytes.
  TooLong,
  /// Not the form of a line, or an operation of an unknown type.
  Malformed,
  /// Ahead of our clock by more than kExportClockSkew. It is applied when its time has come.
  Future,
  /// From before the requested time.
  NotRequested,
  /// Struck out by a later operation.
  Nullified,
};
inline constexpr std::size_t kExportDrops = 5;
/// Its name in metrics. `index`: of an ExportDrop.
const char* export_drop_name(std::size_t index);

/// What a page brings.
struct ExportPage {
  /// One for each DID: for import_identities.
  std::vector<IdentityRow> rows = {};
  /// With this page.
  tables::PlcCursor cursor = {};
  std::size_t applied = 0;
  std::array<std::uint64_t, kExportDrops> dropped{};
  /// The directory has no further operations now.
  bool is_end = false;
  /// The page does not lead on: it has no line that was requested, or it is full and the next one
  /// would be the same.
  bool is_stuck = false;
};

/// Reads the export page by page behind a cursor, so that no operation is missed or applied twice.
///
/// Several operations may have been made at one instant, and operations may become visible a moment
/// after a later one. Therefore each page begins a second before the cursor, and the CIDs of that
/// second tell what was applied. If this second fills a page, the next page begins a millisecond
/// before the cursor, and then at the cursor. The cursor is never ahead of our clock, so that an
/// operation with a wrong time does not hide later ones. No clock, no I/O; one thread.
class ExportPages {
 public:
  /// How far a page begins before the cursor.
  static constexpr std::chrono::seconds kOverlap{1};
  /// The most CIDs that a cursor keeps; without the others an operation is applied twice, which
  /// has no effect.
  static constexpr std::size_t kMaxCids = 2 * kExportPageLines;

  /// The time from which the next page is requested: operations made after it.
  Timestamp after(const tables::PlcCursor& cursor) const;

  /// Reads the page that was requested with `after(cursor)`. `asked_at`: when it was requested, by
  /// our clock.
  ExportPage read(std::string_view body, const tables::PlcCursor& cursor, Timestamp asked_at);

 private:
  /// How many pages in a row were full and did not go beyond the cursor; 2: `after` is the cursor.
  std::size_t narrowed_ = 0;
  /// Lines of the last page that were dropped and have no CID in a cursor: hashes. They are counted
  /// once.
  std::unordered_set<std::size_t> dropped_;
};

}  // namespace skua::documents
