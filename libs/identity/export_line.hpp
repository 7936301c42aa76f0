#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "base/seeded_hash.hpp"
#include "base/time.hpp"
#include "identity/identity_table.hpp"

namespace skua::identity {

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

}  // namespace skua::identity
