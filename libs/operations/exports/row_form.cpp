#include "exports/row_form.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skua::exports {
namespace {

constexpr std::string_view kArray = "[]";

bool has_column(const Source& source, std::string_view name) {
  return std::any_of(source.columns.begin(), source.columns.end(),
                     [name](const Column& column) { return column.name == name; });
}

bool is_array(const Column& column) {
  return std::string_view(column.type).ends_with(kArray);
}

/// Whether the column is the CID of a record, which tables keep as a digest.
bool is_cid(const Column& column) {
  return column.type == "bytea" &&
         (column.name == "cid" || std::string_view(column.name).ends_with("_cid"));
}

/// Whether the numbers of the column exceed 2^53, from which on programs that read JSON numbers as
/// floating-point numbers change them.
bool is_large_key(const Column& column) {
  return column.type == "bigint" && (column.name == "rkey" || column.name == "rev" ||
                                     std::string_view(column.name).ends_with("_rkey"));
}

std::string csv_value(const Column& column, const std::string& name) {
  if (is_cid(column)) return fmt::format("bsky.cid_text({})", name);
  if (is_array(column)) return fmt::format("to_json({})", name);
  if (column.type == "boolean") return fmt::format("{}::text", name);
  if (column.type.starts_with("timestamp")) return fmt::format("to_json({}) #>> '{{}}'", name);
  return name;
}

std::string json_value(const Column& column, const std::string& name) {
  if (is_cid(column)) return fmt::format("bsky.cid_text({})", name);
  if (is_large_key(column)) return fmt::format("{}::text", name);
  // Values of the type json keep their blanks and line ends.
  if (column.type == "json") return fmt::format("{}::jsonb", name);
  return name;
}

std::string csv_field(std::string_view value) {
  if (value.find_first_of(",\"\r\n") == value.npos) return std::string(value);
  return quoted_name(value);
}

std::string conditions_of(const Source& source, const Selection& selection,
                          const std::optional<KeyBounds>& range) {
  std::vector<std::string> conditions;
  const std::string key = source.key ? fmt::format("q.{}", quoted_name(*source.key)) : "";
  if (range) {
    conditions.push_back(fmt::format("{} BETWEEN {} AND {}", key, range->first, range->last));
  }
  if (selection.since) {
    conditions.push_back(
        fmt::format("{} >= timestamptz '{}'", time_of(source).value(), *selection.since));
  }
  if (selection.millionths) {
    // The remainder of a negative hash is negative.
    conditions.push_back(
        fmt::format("abs(hashint8extended({}, 0) % 1000000) < {}", key, *selection.millionths));
  }
  return conditions.empty() ? "" : fmt::format(" WHERE {}", fmt::join(conditions, " AND "));
}

/// Returns the type of DuckDB for a type of PostgreSQL. Types without an equal one are texts.
std::string duckdb_type(std::string_view type) {
  if (type.ends_with(kArray)) {
    type.remove_suffix(kArray.size());
    return duckdb_type(type) + std::string(kArray);
  }
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kTypes = {
      {{"bigint", "BIGINT"},
       {"integer", "INTEGER"},
       {"smallint", "SMALLINT"},
       {"boolean", "BOOLEAN"},
       {"double precision", "DOUBLE"},
       {"real", "FLOAT"},
       {"timestamp with time zone", "TIMESTAMPTZ"},
       {"timestamp without time zone", "TIMESTAMP"},
       {"date", "DATE"},
       {"jsonb", "JSON"},
       {"json", "JSON"}}};
  for (const auto& [known, duckdb] : kTypes) {
    if (type == known) return std::string(duckdb);
  }
  return "VARCHAR";
}

std::string literal_of(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

}  // namespace

std::optional<std::string> time_of(const Source& source) {
  if (has_column(source, "sort_at")) return "q.sort_at";
  const bool is_created = has_column(source, "created_at");
  const bool is_indexed = has_column(source, "indexed_at");
  if (is_created && is_indexed) return "least(q.created_at, q.indexed_at)";
  if (is_created) return "q.created_at";
  if (is_indexed) return "q.indexed_at";
  return std::nullopt;
}

std::string select_of(const Source& source, const std::vector<Column>& columns, Format format,
                      const Selection& selection, const std::optional<KeyBounds>& range) {
  std::vector<std::string> values;
  for (const Column& column : columns) {
    const std::string name = quoted_name(column.name);
    const std::string full = "q." + name;
    values.push_back(format == Format::Csv
                         ? csv_value(column, full)
                         : fmt::format("{} AS {}", json_value(column, full), name));
  }
  const std::string rows = fmt::format("SELECT {} FROM {} AS q{}", fmt::join(values, ", "),
                                       source.from, conditions_of(source, selection, range));
  return format == Format::Csv ? rows : fmt::format("SELECT row_to_json(r) FROM ({}) AS r", rows);
}

std::string_view copy_options(Format format) {
  // JSON of row_to_json has no control characters, so that COPY quotes nothing.
  return format == Format::Csv ? "FORMAT csv" : "FORMAT csv, DELIMITER E'\\x02', QUOTE E'\\x01'";
}

std::string head_line(const std::vector<Column>& columns, Format format) {
  if (format == Format::Jsonl) return "";
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const Column& column : columns) names.push_back(csv_field(column.name));
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string parquet_statement(const std::vector<Column>& columns, std::string_view jsonl_file,
                              std::string_view parquet_file) {
  std::vector<std::string> types;
  types.reserve(columns.size());
  for (const Column& column : columns) {
    types.push_back(fmt::format("  {}: '{}'", quoted_name(column.name), duckdb_type(column.type)));
  }
  return fmt::format(
      "COPY (SELECT * FROM read_json({}, format = 'newline_delimited', columns = {{\n{}\n}}))\n"
      "TO {} (FORMAT parquet, COMPRESSION zstd);",
      literal_of(jsonl_file), fmt::join(types, ",\n"), literal_of(parquet_file));
}

}  // namespace skua::exports
