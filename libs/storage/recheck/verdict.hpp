#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/sha256.hpp"
#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "event/resolved_event.hpp"
#include "lexicon_store/added_checks.hpp"
#include "postgres/session.hpp"
#include "tables/record_key.hpp"
#include "writer/effects.hpp"
#include "writer/table_writer.hpp"

namespace skua::recheck {

/// A place in a table (`ctid`).
struct Place {
  std::int64_t block = 0;
  std::int64_t offset = 0;

  /// `(block,offset)`, as PostgreSQL writes it.
  std::string text() const;
  static Place parse(std::string_view text);
  /// Returns the next place of the block.
  Place after() const { return {block, offset + 1}; }
};

/// A stored row that has the content of a record.
struct StoredRow {
  Place place;
  tables::RecordKey key;
  atproto::Tid rev;
  atproto::Digest cid{};
  Timestamp indexed_at;
  std::string did;
  std::string collection;
  std::string rkey;
  /// The record as `bsky.record_json` returns it, or `bsky.records.record`.
  std::string json;
  /// The stored block of a record that the JSON does not hold exactly.
  std::optional<Bytes> block;
  /// The value of `bsky.records.invalid_reason`.
  std::optional<std::string> invalid_reason;
};

/// Consecutive rows of a table.
struct Stretch {
  std::vector<StoredRow> rows;
  /// The size of the rows' JSON.
  std::size_t json_bytes = 0;
  /// The place after the rows.
  Place next;
  /// Whether all rows before `end_block` have been read.
  bool is_end = false;
};

/// Reads the rows at these places (`ctid`) that have the content of a record, without locks. Throws
/// postgres::SqlError.
std::vector<StoredRow> read_rows(postgres::Session& session, const writer::TableWriter& table,
                                 std::span<const std::string> places);

/// Appends the block of the record of a row, as DAG-CBOR: the stored one, or the one to which the
/// JSON encodes. Returns an error if the JSON cannot be encoded.
Result<void> append_block(const StoredRow& row, Bytes& block);

/// Reads rows from a place on, without locks: at most a megabyte of the table and a thousand rows.
/// Reads the JSON of 32 rows at a time, until it has 16 MB. Throws postgres::SqlError.
Stretch read_stretch(postgres::Session& session, const writer::TableWriter& table, Place from,
                     std::int64_t end_block);

/// A stored row that the current lexicons judge differently from the stored result.
struct Verdict {
  StoredRow row;
  /// The record according to the current lexicons: typed, or with an `invalid_reason`, or neither.
  /// The event is not resolved.
  event::ResolvedEvent event;

  /// Whether the row belongs in another table. Otherwise the row only needs another
  /// `invalid_reason`.
  bool moves(bool is_typed_row) const {
    const bool is_typed = !std::holds_alternative<std::monostate>(event.record().record);
    return is_typed != is_typed_row;
  }
};

/// Checks a row of a typed table or of `bsky.records` against the current lexicons. Returns nothing
/// if the row is correct, or if its JSON is not exact enough to prove the record valid. Does not
/// check the MIME types and sizes of avatars and banners in rows of former versions, which do not
/// have them.
std::optional<Verdict> judge(const StoredRow& row, bool is_typed_row,
                             const lexicon_store::AddedChecks& added);

/// Applies the verdicts to rows of a table: moves each row to the table of its record, or sets its
/// `invalid_reason`. Takes the locks of the accounts, and waits for them. Rows whose revision has
/// changed since they were read stay. The events are resolved. Runs in the caller's transaction.
/// Returns the number of changed rows. Throws postgres::SqlError.
std::size_t change_rows(postgres::Session& session, const writer::TableWriter& table,
                        std::vector<Verdict>& verdicts, writer::Effects& effects);

}  // namespace skua::recheck
