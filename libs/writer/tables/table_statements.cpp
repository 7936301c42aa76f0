#include "writer/tables/table_statements.hpp"

#include <string_view>

namespace skua::writer {
namespace {

std::string type_name(store::Array::Type type) {
  using Type = store::Array::Type;
  switch (type) {
    case Type::int4:
      return "int4";
    case Type::int8:
      return "int8";
    case Type::boolean:
      return "boolean";
    case Type::text:
      return "text";
    case Type::bytea:
      return "bytea";
    case Type::timestamptz:
      return "timestamptz";
  }
  return {};
}

/// Appends to a list.
void add(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

/// Lists of what a statement says of the columns of a batch.
struct Lists {
  std::string names;   // a, b
  std::string arrays;  // $1::int4[], $2::text[]
  std::string values;  // u.a, u.b::jsonb
  std::size_t size = 0;

  void append(std::span<const BatchColumn> columns) {
    for (const BatchColumn& column : columns) {
      ++size;
      add(names, column.name);
      add(arrays, "$" + std::to_string(size) + "::" + type_name(column.type) + "[]");
      add(values, "u." + column.name + column.cast);
    }
  }
};

}  // namespace

TableStatements::TableStatements(const std::string& table, std::span<const BatchColumn> keys,
                                 std::span<const BatchColumn> columns)
    : table_(table),
      keys_(keys.begin(), keys.end()),
      columns_(columns.begin(), columns.end()),
      upsert_{table + "_upsert", upsert_sql("")},
      remove_{table + "_remove", remove_sql("")},
      read_revs_{table + "_read_revs", read_revs_sql()} {}

void TableStatements::keep_stubs(const std::string& marker) {
  upsert_.sql = upsert_sql(marker);
  remove_.sql = remove_sql(marker);
}

std::string TableStatements::same_key() const {
  std::string text;
  for (const BatchColumn& key : keys_) {
    if (!text.empty()) text += " AND ";
    text += "t." + key.name + " = u." + key.name;
  }
  return text;
}

std::string TableStatements::upsert_sql(const std::string& marker) const {
  Lists lists;
  lists.append(keys_);
  const std::string conflict_key = lists.names;
  lists.append(columns_);
  std::string set;
  for (const BatchColumn& column : columns_) {
    add(set, column.name + " = EXCLUDED." + column.name);
  }
  std::string marker_name;
  std::string marker_value;
  if (!marker.empty()) {
    marker_name = ", " + marker;
    marker_value = ", false";
    add(set, marker + " = false");
  }
  return "INSERT INTO bsky." + table_ + " AS t (" + lists.names + ", indexed_at" + marker_name +
         ") SELECT " + lists.values + ", $" + std::to_string(lists.size + 1) + "::timestamptz" +
         marker_value + " FROM unnest(" + lists.arrays + ") AS u(" + lists.names +
         ") ON CONFLICT (" + conflict_key + ") DO UPDATE SET " + set +
         ", indexed_at = CASE WHEN t.cid IS NOT DISTINCT FROM EXCLUDED.cid THEN t.indexed_at "
         "ELSE EXCLUDED.indexed_at END WHERE t.rev < EXCLUDED.rev";
}

std::string TableStatements::remove_sql(const std::string& marker) const {
  Lists lists;
  lists.append(keys_);
  const std::vector<BatchColumn> removal = {{"rev", store::Array::Type::int8, ""},
                                            {"is_delete", store::Array::Type::boolean, ""}};
  lists.append(removal);
  const std::string from = "unnest(" + lists.arrays + ") AS u(" + lists.names + ")";
  const std::string where = " WHERE " + same_key() + " AND t.rev < u.rev";
  if (marker.empty()) return "DELETE FROM bsky." + table_ + " AS t USING " + from + where;

  std::string set = "rev = u.rev, " + marker + " = u.is_delete";
  for (const BatchColumn& column : columns_) {
    if (column.name != "rev") add(set, column.name + " = NULL");
  }
  return "UPDATE bsky." + table_ + " AS t SET " + set + " FROM " + from + where;
}

std::string TableStatements::read_revs_sql() const {
  Lists lists;
  lists.append(keys_);
  return "SELECT u.place - 1, t.rev FROM unnest(" + lists.arrays + ") WITH ORDINALITY AS u(" +
         lists.names + ", place) JOIN bsky." + table_ + " AS t ON " + same_key();
}

void append_removal(store::Params& params, TableWriter::Events events) {
  store::Array revs(store::Array::Type::int8);
  store::Array deletes(store::Array::Type::boolean);
  for (const event::ResolvedEvent* event : events) {
    revs.int8(static_cast<std::int64_t>(event->change().rev.value));
    deletes.boolean(event->change().operation == event::Operation::Delete);
  }
  params.array(revs).array(deletes);
}

std::vector<std::int64_t> revs_by_place(const store::Rows& rows, std::size_t size) {
  std::vector<std::int64_t> revs(size, TableWriter::kNoRow);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    revs.at(static_cast<std::size_t>(rows.int8(i, 0))) = rows.int8(i, 1);
  }
  return revs;
}

}  // namespace skua::writer
