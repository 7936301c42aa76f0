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
      add(arrays,
          std::string("$").append(std::to_string(size)) + "::" + type_name(column.type) + "[]");
      add(values, "u." + column.name + column.cast);
    }
  }
};

/// What a range of keys has besides the first.
const std::vector<BatchColumn> kRestOfRange = {{"last_rkey", store::Array::Type::int8, ""},
                                               {"row_limit", store::Array::Type::int8, ""}};

/// Stands for a post that was only referred to. One that was deleted has a revision.
const std::string kIsStub = "(t.rev = 0 AND t.cid IS NULL)";

/// What a removal brings besides the keys.
const std::vector<BatchColumn> kRemoval = {{"rev", store::Array::Type::int8, ""},
                                           {"is_delete", store::Array::Type::boolean, ""}};

}  // namespace

TableStatements::TableStatements(const std::string& table, std::span<const BatchColumn> keys,
                                 std::span<const BatchColumn> columns)
    : table_(table),
      keys_(keys.begin(), keys.end()),
      columns_(columns.begin(), columns.end()),
      copied_(column_names() + ", indexed_at"),
      make_stage_{table + "_make_stage", "CREATE TEMP TABLE IF NOT EXISTS stage_" + table +
                                             " (LIKE bsky." + table +
                                             " INCLUDING DEFAULTS) ON COMMIT DELETE ROWS"},
      merge_{table + "_merge", merge_sql("")},
      read_keys_{table + "_read_keys", read_keys_sql()},
      drop_stubs_{table + "_drop_stubs", drop_stubs_sql()},
      actors_with_rows_before_{
          table + "_actors_with_rows_before",
          "SELECT a.id FROM unnest($1::int4[], $2::int8[]) AS a(id, rev) WHERE EXISTS (SELECT "
          "FROM bsky." +
              table + " AS t WHERE t.actor_id = a.id AND t.rev < a.rev AND t.cid IS NOT NULL)"},
      rows_before_{table + "_rows_before", rows_before_sql()},
      upsert_{table + "_upsert", upsert_sql("")},
      remove_{table + "_remove", remove_sql()},
      read_revs_{table + "_read_revs", read_revs_sql()},
      purge_{table + "_purge", purge_sql("")} {}

void TableStatements::keep_stubs(const std::string& marker) {
  merge_.sql = merge_sql(marker);
  upsert_.sql = upsert_sql(marker);
  remove_.sql = empty_sql(marker);
  purge_.sql = purge_sql(marker);
  keeps_stubs_ = true;
}

std::string TableStatements::same_key() const {
  std::string text;
  for (const BatchColumn& key : keys_) {
    if (!text.empty()) text += " AND ";
    text += "t." + key.name + " = u." + key.name;
  }
  return text;
}

std::string TableStatements::column_names() const {
  std::string names;
  for (const BatchColumn& key : keys_) add(names, key.name);
  for (const BatchColumn& column : columns_) add(names, column.name);
  return names;
}

std::string TableStatements::on_conflict_sql(const std::string& marker) const {
  std::string key_names;
  for (const BatchColumn& key : keys_) add(key_names, key.name);
  std::string set;
  for (const BatchColumn& column : columns_) {
    add(set, column.name + " = EXCLUDED." + column.name);
  }
  if (!marker.empty()) add(set, marker + " = false");
  return " ON CONFLICT (" + key_names + ") DO UPDATE SET " + set +
         ", indexed_at = CASE WHEN t.cid IS NOT DISTINCT FROM EXCLUDED.cid THEN t.indexed_at "
         "ELSE EXCLUDED.indexed_at END WHERE t.rev < EXCLUDED.rev";
}

std::string TableStatements::upsert_sql(const std::string& marker) const {
  Lists lists;
  lists.append(keys_);
  lists.append(columns_);
  const std::string marker_name = marker.empty() ? "" : ", " + marker;
  const std::string marker_value = marker.empty() ? "" : ", false";
  return "INSERT INTO bsky." + table_ + " AS t (" + lists.names + ", indexed_at" + marker_name +
         ") SELECT " + lists.values + ", $" + std::to_string(lists.size + 1) + "::timestamptz" +
         marker_value + " FROM unnest(" + lists.arrays + ") AS u(" + lists.names + ")" +
         on_conflict_sql(marker);
}

std::string TableStatements::merge_sql(const std::string& marker) const {
  const std::string names = column_names() + ", indexed_at" + (marker.empty() ? "" : ", " + marker);
  // A row that ON CONFLICT meets is locked, which writes to it, even if its WHERE is false.
  return "INSERT INTO bsky." + table_ + " AS t (" + names + ") SELECT " + names +
         " FROM pg_temp.stage_" + table_ + " AS u WHERE NOT EXISTS (SELECT FROM bsky." + table_ +
         " AS t WHERE " + same_key() +
         " AND (t.rev >= u.rev OR t.cid = u.cid AND t.actor_id = ANY($1::int4[])))" +
         on_conflict_sql(marker);
}

std::string TableStatements::rows_before_sql() const {
  const bool has_collection = keys_.size() > 2;
  const std::string collection = has_collection ? "t.collection_id" : "$5::int4";
  return "SELECT t.rkey, CASE WHEN t.rkey < 0 THEN bsky.rkey_text(t.actor_id, " + collection +
         ", t.rkey) END" + (has_collection ? ", t.collection_id, c.nsid" : "") + " FROM bsky." +
         table_ + " AS t" +
         (has_collection ? " JOIN bsky.collections AS c ON c.id = t.collection_id" : "") +
         " WHERE t.actor_id = $1::int4 AND " +
         (has_collection ? "(t.collection_id, t.rkey) > ($5::int4, $4::int8)"
                         : "t.rkey > $4::int8") +
         " AND t.rev < $2::int8 AND t.cid IS NOT NULL ORDER BY " +
         (has_collection ? "t.collection_id, t.rkey" : "t.rkey") + " LIMIT $3::int8";
}

std::string TableStatements::remove_sql() const {
  Lists lists;
  lists.append(keys_);
  lists.append(kRemoval);
  return "DELETE FROM bsky." + table_ + " AS t USING unnest(" + lists.arrays + ") AS u(" +
         lists.names + ") WHERE " + same_key() + " AND t.rev < u.rev";
}

std::string TableStatements::empty_sql(const std::string& marker) const {
  Lists lists;
  lists.append(keys_);
  const std::string conflict_key = lists.names;
  const std::string keys = lists.values;
  lists.append(kRemoval);
  std::string set = "rev = EXCLUDED.rev, " + marker + " = EXCLUDED." + marker;
  for (const BatchColumn& column : columns_) {
    if (column.name != "rev") add(set, column.name + " = NULL");
  }
  return "INSERT INTO bsky." + table_ + " AS t (" + conflict_key + ", rev, " + marker +
         ", indexed_at) SELECT " + keys + ", u.rev, u.is_delete, $" +
         std::to_string(lists.size + 1) + "::timestamptz FROM unnest(" + lists.arrays + ") AS u(" +
         lists.names + ") ON CONFLICT (" + conflict_key + ") DO UPDATE SET " + set +
         " WHERE t.rev < EXCLUDED.rev";
}

std::string TableStatements::read_keys_sql() const {
  Lists lists;
  lists.append(keys_);
  lists.append(kRestOfRange);
  const std::string collection = keys_.size() > 2 ? "t.collection_id = r.collection_id AND " : "";
  return "SELECT r.place - 1, t.rkey, t.is_stub FROM unnest(" + lists.arrays +
         ") WITH ORDINALITY AS r(" + lists.names + ", place) CROSS JOIN LATERAL (SELECT t.rkey, " +
         kIsStub + " AS is_stub FROM bsky." + table_ + " AS t WHERE t.actor_id = r.actor_id AND " +
         collection + "t.rkey BETWEEN r.rkey AND r.last_rkey LIMIT r.row_limit) AS t";
}

std::string TableStatements::drop_stubs_sql() const {
  Lists lists;
  lists.append(keys_);
  // By key: a stub that changes meanwhile is looked at anew, and not passed over because it lies
  // elsewhere now.
  return "DELETE FROM bsky." + table_ + " AS t USING unnest(" + lists.arrays + ") AS u(" +
         lists.names + ") WHERE " + same_key() + " AND " + kIsStub;
}

std::string TableStatements::read_revs_sql() const {
  Lists lists;
  lists.append(keys_);
  return "SELECT u.place - 1, t.rev FROM unnest(" + lists.arrays + ") WITH ORDINALITY AS u(" +
         lists.names + ", place) JOIN bsky." + table_ + " AS t ON " + same_key();
}

std::string TableStatements::purge_sql(const std::string& marker) const {
  // A stub has no cid, and is what would be left.
  const std::string old = "actor_id = $1::int4 AND rev <= $2::int8" +
                          std::string(marker.empty() ? "" : " AND cid IS NOT NULL");
  std::string change = "DELETE FROM bsky." + table_;
  if (!marker.empty()) {
    std::string set = "rev = $2::int8, " + marker + " = true";
    for (const BatchColumn& column : columns_) {
      if (column.name != "rev") add(set, column.name + " = NULL");
    }
    change = "UPDATE bsky." + table_ + " SET " + set;
  }
  return change + " WHERE " + old + " AND ctid = ANY (ARRAY(SELECT ctid FROM bsky." + table_ +
         " WHERE " + old + " LIMIT $3::int8))";
}

}  // namespace skua::writer
