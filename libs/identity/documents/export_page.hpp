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
/// An operation that is further ahead of our clock does not count. The difference of correct clocks
/// is smaller.
inline constexpr std::chrono::minutes kExportClockSkew{5};

/// A line of a PLC directory's export (web.plc.directory/spec/v0.1/did-plc), with the identity of
/// an account since `row.operation_at`. A tombstone has only the DID.
struct ExportLine {
  IdentityRow row;
  /// The CID of the operation. Empty if the line has no valid CID.
  std::string cid;
  /// Whether a later operation has nullified this operation, so that it does not count.
  bool nullified = false;
};

/// Reads one line, with an operation of type plc_operation, create (the legacy form) or
/// plc_tombstone. Parts that cannot be used (a key of another kind, a PDS that is not a URL) are
/// left empty. The form of a key is checked, but not whether the point lies on its curve. Error:
/// export_line.
Result<ExportLine> parse_export_line(std::string_view line);

/// The position of an operation in the export.
struct ExportPosition {
  Timestamp created_at;
  std::string cid;
};

/// Returns the position of a line that `parse_export_line` refuses, such as a line with an
/// operation of an unknown type. Returns nothing if the line has no position.
std::optional<ExportPosition> export_position(std::string_view line);

/// The newest operation of each DID, from operations in any order. One thread.
class NewestOperations {
 public:
  /// Adds an operation that is not nullified and has `operation_at`.
  void add(IdentityRow row);

  /// The number of DIDs.
  std::size_t size() const { return rows_.size(); }

  /// Returns one row for each DID, for import_identities, and removes all rows. `fetched_at` is set
  /// in all rows.
  std::vector<IdentityRow> take(Timestamp fetched_at);

 private:
  std::unordered_map<std::string, IdentityRow, SeededHash> rows_;
};

/// The number of lines that are requested for a page, which is the largest number that the
/// directory gives.
inline constexpr std::size_t kExportPageLines = 1000;

/// Returns the address of the page with the operations made after a time, from the address of a
/// directory or of its export. The epoch means the first page.
std::string export_url(transport::Endpoint endpoint, Timestamp after);

/// Calls `use` with each non-empty line of a page, without its line end.
template <class Use>
void for_each_line(std::string_view body, Use&& use) {
  while (!body.empty()) {
    const auto end = std::min(body.find('\n'), body.size());
    if (end > 0) use(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
  }
}

/// The reason why a line of the export is not applied.
enum class ExportDrop : std::uint8_t {
  /// The line is longer than kMaxExportLineBytes.
  TooLong,
  /// The line does not have the form of a line, or has an operation of an unknown type.
  Malformed,
  /// The operation is ahead of our clock by more than kExportClockSkew. It is applied when its time
  /// has come.
  Future,
  /// The operation was made before the requested time.
  NotRequested,
  /// A later operation has nullified the operation.
  Nullified,
};
inline constexpr std::size_t kExportDrops = 5;
/// Returns the name of a reason in metrics. `index` is the number of an ExportDrop.
const char* export_drop_name(std::size_t index);

/// The content of a page.
struct ExportPage {
  /// The rows for import_identities, one for each DID.
  std::vector<IdentityRow> rows = {};
  /// The cursor after this page.
  tables::PlcCursor cursor = {};
  std::size_t applied = 0;
  std::array<std::uint64_t, kExportDrops> dropped{};
  /// Whether the directory has no further operations now.
  bool is_end = false;
  /// Whether the page makes no progress: it has no requested line, or it is full and the next page
  /// would be the same.
  bool is_stuck = false;
};

/// Reads the export page by page behind a cursor, so that no operation is missed or applied twice.
///
/// Several operations may have been made at one instant, and an operation may become visible a
/// moment after a later one. So each page begins a second before the cursor, and the CIDs of that
/// second tell which operations were applied. If this second fills a page, the next page begins a
/// millisecond before the cursor, and then at the cursor. The cursor is never ahead of our clock,
/// so that an operation with a wrong time does not hide later operations. No clock, no I/O; one
/// thread.
class ExportPages {
 public:
  /// The time by which a page begins before the cursor.
  static constexpr std::chrono::seconds kOverlap{1};
  /// The largest number of CIDs that a cursor keeps. An operation whose CID is not kept is applied
  /// twice, which has no effect.
  static constexpr std::size_t kMaxCids = 2 * kExportPageLines;

  /// Returns the time for the request of the next page, which has the operations made after this
  /// time.
  Timestamp after(const tables::PlcCursor& cursor) const;

  /// Reads the page that was requested with `after(cursor)`. `asked_at` is the time of the request
  /// by our clock.
  ExportPage read(std::string_view body, const tables::PlcCursor& cursor, Timestamp asked_at);

 private:
  /// The number of successive pages that were full and did not move the cursor. With 2, `after`
  /// returns the cursor.
  std::size_t narrowed_ = 0;
  /// The hashes of lines of the last page that were dropped and have no CID in a cursor, so that
  /// each such line is counted once.
  std::unordered_set<std::size_t> dropped_;
};

}  // namespace skua::documents
