#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exports/source.hpp"

namespace skua::exports {

// The form of rows in a file. docs/export.md states it for readers.

enum class Format : std::uint8_t { Csv, Jsonl };

/// The rows of a source that are exported.
struct Selection {
  /// A time in RFC 3339. Only rows from it on are exported.
  std::optional<std::string> since = std::nullopt;
  /// The part of the keys whose rows are exported, in millionths.
  std::optional<std::int64_t> millionths = std::nullopt;
};

/// Returns the SQL for the time of a row, which `Selection::since` compares: `sort_at`, or the
/// earlier of `created_at` and `indexed_at`, or the one of them that exists. Nothing if the source
/// has no such column.
std::optional<std::string> time_of(const Source& source);

/// Returns a SELECT statement with the rows of a file, for `COPY ... TO STDOUT`. `columns` are
/// those of the source that are exported, in the order of the file. With a range, it has the rows
/// with keys in the range. A source without a time or a key must not have a selection that needs
/// it.
std::string select_of(const Source& source, const std::vector<Column>& columns, Format format,
                      const Selection& selection, const std::optional<KeyBounds>& range);

/// Returns the options of COPY with which each row of `select_of` is a line of the file.
std::string_view copy_options(Format format);

/// Returns the first line of a file; empty if the format has none.
std::string head_line(const std::vector<Column>& columns, Format format);

/// Returns a statement for DuckDB that reads a file of JSON lines with the types of the columns,
/// and writes a Parquet file.
std::string parquet_statement(const std::vector<Column>& columns, std::string_view jsonl_file,
                              std::string_view parquet_file);

}  // namespace skua::exports
