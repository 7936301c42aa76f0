#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/sha256.hpp"
#include "atproto/tid.hpp"
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
  /// The next place of the block.
  Place after() const { return {block, offset + 1}; }
};

/// A row with the content of a record.
struct StoredRow {
  Place place;
  tables::RecordKey key;
  atproto::Tid rev;
  atproto::Digest cid{};
  Timestamp indexed_at;
  std::string did;
  std::string collection;
  std::string rkey;
  /// The record (`bsky.record_json`), or `bsky.records.record`.
  std::string json;
  /// `bsky.records.invalid_reason`.
  std::optional<std::string> invalid_reason;
};

/// Rows that stand together in a table.
struct Stretch {
  std::vector<StoredRow> rows;
  /// The size of their JSON.
  std::size_t json_bytes = 0;
  /// The place after them.
  Place next;
  /// The rows before `end_block` have been read.
  bool is_end = false;
};

/// Reads rows from a place on, without locks: a megabyte of the table and a thousand rows at most.
/// It makes the JSON of 32 rows at a time, until there are 16 MB. Throws postgres::SqlError.
Stretch read_stretch(postgres::Session& session, const writer::TableWriter& table, Place from,
                     std::int64_t end_block);

/// A stored row that the present lexicons judge differently.
struct Verdict {
  StoredRow row;
  /// The record as the present lexicons have it: typed, or with an `invalid_reason`, or neither.
  /// Not resolved.
  event::ResolvedEvent event;

  /// The row belongs into another table. Otherwise it needs another `invalid_reason`.
  bool moves(bool is_typed_row) const {
    const bool is_typed = !std::holds_alternative<std::monostate>(event.record().record);
    return is_typed != is_typed_row;
  }
};

/// Checks a row of a typed table or of `bsky.records` against the present lexicons. Nothing: the
/// row is right, or its JSON is not exact enough to say that its record is valid. The MIME types
/// and sizes of avatars and banners are not checked: typed tables do not have them.
std::optional<Verdict> judge(const StoredRow& row, bool is_typed_row,
                             const lexicon_store::AddedChecks& added);

/// Gives rows of a table their verdicts, with the locks of their accounts, for which it waits:
/// moves each to the table of its record, or sets its `invalid_reason`. Rows whose revision has
/// changed since they were read stay. The events are resolved. In the caller's transaction. Returns
/// the number of changed rows. Throws postgres::SqlError.
std::size_t change_rows(postgres::Session& session, const writer::TableWriter& table,
                        std::vector<Verdict>& verdicts, writer::Effects& effects);

}  // namespace skua::recheck
