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
#include "store/record_key.hpp"
#include "store/session.hpp"
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
  store::RecordKey key;
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
/// It makes the JSON of 32 rows at a time, until there are 16 MB. Throws store::SqlError.
Stretch read_stretch(store::Session& session, const writer::TableWriter& table, Place from,
                     std::int64_t end_block);

}  // namespace skua::recheck
