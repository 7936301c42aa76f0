#include "writer/tables/table_statements.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace skua::writer {

namespace {

std::string type_name(postgres::Array::Type type) {
  using Type = postgres::Array::Type;
  switch (type) {
    case Type::int2:
      return "int2";
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

/// The columns of a removal besides the key.
const std::vector<BatchColumn> kRemoval = {{"rev", postgres::Array::Type::int8, ""},
                                           {"is_delete", postgres::Array::Type::boolean, ""}};

/// The columns of a range of keys besides its first key.
const std::vector<BatchColumn> kRestOfRange = {{"last_rkey", postgres::Array::Type::int8, ""},
                                               {"row_limit", postgres::Array::Type::int8, ""}};

}  // namespace

void append_item(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

void ColumnLists::append(std::span<const BatchColumn> columns) {
  for (const BatchColumn& column : columns) {
    ++size;
    append_item(names, column.name);
    append_item(arrays, std::string("$").append(std::to_string(size)) +
                            "::" + type_name(column.type) + "[]");
    append_item(values, "u." + column.name + column.cast);
  }
}

TableStatements::TableStatements(const std::string& table, std::span<const BatchColumn> keys,
                                 std::span<const BatchColumn> columns,
                                 std::span<const ReferenceColumns> references)
    : table_(table),
      keys_(keys.begin(), keys.end()),
      columns_(columns.begin(), columns.end()),
      references_(references.begin(), references.end()),
      copied_(column_names() + ", indexed_at"),
      make_stage_{table + "_make_stage", "CREATE TEMP TABLE IF NOT EXISTS stage_" + table +
                                             " (LIKE bsky." + table +
                                             " INCLUDING DEFAULTS) ON COMMIT DELETE ROWS"},
      merge_{table + "_merge", merge_sql("")},
      read_keys_{table + "_read_keys", read_keys_sql("NULL::bytea")},
      drop_stubs_{table + "_drop_stubs", drop_stubs_sql()},
      actors_with_rows_before_{
          table + "_actors_with_rows_before",
          "SELECT a.id FROM unnest($1::int8[], $2::int8[]) AS a(id, rev) WHERE EXISTS (SELECT "
          "FROM bsky." +
              table + " AS t WHERE t.actor_id = a.id AND t.rev < a.rev AND t.cid IS NOT NULL)"},
      rows_before_{table + "_rows_before", rows_before_sql()},
      insert_{table + "_insert", insert_sql("")},
      update_{table + "_update", update_sql("")},
      remove_{table + "_remove", remove_sql()},
      read_revs_{table + "_read_revs", read_revs_sql()},
      purge_{table + "_purge", purge_sql("")},
      expired_{table + "_expired", expired_sql("")},
      discard_{table + "_discard", discard_sql()},
      count_references_{table + "_count_references", count_references_sql()},
      other_references_{table + "_other_references", other_references_sql()},
      own_references_{table + "_own_references", own_references_sql()} {}

void TableStatements::keep_stubs(const std::string& marker) {
  merge_.sql = merge_sql(marker);
  insert_.sql = insert_sql(marker);
  update_.sql = update_sql(marker);
  remove_.sql = empty_sql(marker);
  insert_stubs_ = {table_ + "_remove_absent", insert_stubs_sql(marker)};
  purge_.sql = purge_sql(marker);
  read_keys_.sql = read_keys_sql("CASE WHEN " + std::string(kIsStub) + " THEN t.first_cid END");
  expired_.sql = expired_sql(" AND (t.cid IS NOT NULL OR t.first_cid IS NULL)");
  discard_.sql = discard_to_stub_sql(marker);
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
  for (const BatchColumn& key : keys_) append_item(names, key.name);
  for (const BatchColumn& column : columns_) append_item(names, column.name);
  return names;
}

std::string TableStatements::keys_of(const std::string& name) const {
  std::string text;
  for (const BatchColumn& key : keys_) append_item(text, name + "." + key.name);
  return text;
}

std::string TableStatements::old_content(const std::string& same) const {
  std::string text = "t.cid IS NOT NULL AS had_content, " + same + " AS same_cid";
  std::size_t number = 0;
  for (const ReferenceColumns& reference : references_) {
    const std::string n = std::to_string(++number);
    append_item(text, reference.actor + " AS ref_actor_" + n);
    append_item(text, reference.collection + " AS ref_collection_" + n);
    append_item(text, reference.rkey + " AS ref_rkey_" + n);
  }
  return text;
}

std::string TableStatements::empty() const {
  std::string set = ", first_cid = " + std::string(kFirstCid);
  for (const BatchColumn& column : columns_) {
    if (column.name != "rev") set += ", " + column.name + " = NULL";
  }
  return set;
}

std::string TableStatements::insert_sql(const std::string& marker) const {
  ColumnLists lists;
  lists.append(keys_);
  const std::string keys = lists.names;
  lists.append(columns_);
  const std::string marker_name = marker.empty() ? "" : ", " + marker;
  const std::string marker_value = marker.empty() ? "" : ", false";
  return "INSERT INTO bsky." + table_ + " AS t (" + lists.names + ", indexed_at" + marker_name +
         ") SELECT " + lists.values + ", $" + std::to_string(lists.size + 1) + "::timestamptz" +
         marker_value + " FROM unnest(" + lists.arrays + ") AS u(" + lists.names +
         ") ON CONFLICT (" + keys + ") DO NOTHING RETURNING " + keys_of("t");
}

std::string TableStatements::update_sql(const std::string& marker) const {
  ColumnLists lists;
  lists.append(keys_);
  lists.append(columns_);
  std::string set;
  for (const BatchColumn& column : columns_) {
    append_item(set, column.name + " = u." + column.name + column.cast);
  }
  if (!marker.empty()) {
    append_item(set, marker + " = false");
    append_item(set, "first_cid = nullif(" + std::string(kFirstCid) + ", u.cid)");
  }
  const std::string older = same_key() + " AND t.rev < u.rev";
  // All parts of the statement see the rows as they were before the statement. Because of the locks
  // of the accounts, another session can only insert a stub during the statement, and a stub is not
  // content.
  return "WITH u AS MATERIALIZED (SELECT * FROM unnest(" + lists.arrays +
         ") WITH ORDINALITY AS u(" + lists.names +
         ", place)), old AS MATERIALIZED (SELECT u.place - 1 AS place, " +
         old_content("t.cid = u.cid") + " FROM u JOIN bsky." + table_ + " AS t ON " + older +
         "), written AS (UPDATE bsky." + table_ + " AS t SET " + set +
         ", indexed_at = CASE WHEN t.cid IS NOT DISTINCT FROM u.cid THEN t.indexed_at ELSE $" +
         std::to_string(lists.size + 1) + "::timestamptz END FROM u WHERE " + older +
         ") SELECT * FROM old";
}

std::string TableStatements::merge_sql(const std::string& marker) const {
  const std::string names = column_names() + ", indexed_at" + (marker.empty() ? "" : ", " + marker);
  const std::string stage = " FROM pg_temp.stage_" + table_ + " AS u ";
  std::string key_names;
  for (const BatchColumn& key : keys_) append_item(key_names, key.name);
  std::string set;
  for (const BatchColumn& column : columns_) {
    append_item(set, column.name + " = EXCLUDED." + column.name);
  }
  if (!marker.empty()) {
    append_item(set, marker + " = false");
    append_item(set, "first_cid = nullif(" + std::string(kFirstCid) + ", EXCLUDED.cid)");
  }
  // ON CONFLICT locks the row that it meets, and a lock writes to the row, even if the WHERE is
  // false. Therefore the statement excludes such rows before the insert.
  return "WITH old AS MATERIALIZED (SELECT " + keys_of("u") + ", " + old_content("t.cid = u.cid") +
         stage + "LEFT JOIN bsky." + table_ + " AS t ON " + same_key() +
         " WHERE t.rev IS NULL OR t.rev < u.rev "
         "AND (t.cid = u.cid AND t.actor_id = ANY($1::int8[])) IS NOT TRUE), "
         "written AS (INSERT INTO bsky." +
         table_ + " AS t (" + names + ") SELECT " + names + stage +
         "WHERE NOT EXISTS (SELECT 1 FROM bsky." + table_ + " AS t WHERE " + same_key() +
         " AND (t.rev >= u.rev OR t.cid = u.cid AND t.actor_id = ANY($1::int8[]))) ON CONFLICT (" +
         key_names + ") DO UPDATE SET " + set +
         ", indexed_at = CASE WHEN t.cid IS NOT DISTINCT FROM EXCLUDED.cid THEN t.indexed_at "
         "ELSE EXCLUDED.indexed_at END WHERE t.rev < EXCLUDED.rev) SELECT * FROM old";
}

std::string TableStatements::remove_sql() const {
  ColumnLists lists;
  lists.append(keys_);
  lists.append(kRemoval);
  return "DELETE FROM bsky." + table_ + " AS t USING unnest(" + lists.arrays +
         ") WITH ORDINALITY AS u(" + lists.names + ", place) WHERE " + same_key() +
         " AND t.rev < u.rev RETURNING u.place - 1, " + old_content("NULL::boolean");
}

std::string TableStatements::empty_sql(const std::string& marker) const {
  ColumnLists lists;
  lists.append(keys_);
  lists.append(kRemoval);
  const std::string older = same_key() + " AND t.rev < u.rev";
  return "WITH u AS MATERIALIZED (SELECT * FROM unnest(" + lists.arrays +
         ") WITH ORDINALITY AS u(" + lists.names +
         ", place)), old AS MATERIALIZED (SELECT u.place - 1 AS place, " +
         old_content("NULL::boolean") + " FROM u JOIN bsky." + table_ + " AS t ON " + older +
         "), written AS (UPDATE bsky." + table_ + " AS t SET rev = u.rev, " + marker +
         " = u.is_delete" + empty() + " FROM u WHERE " + older + ") SELECT * FROM old";
}

std::string TableStatements::insert_stubs_sql(const std::string& marker) const {
  ColumnLists lists;
  lists.append(keys_);
  const std::string conflict_key = lists.names;
  const std::string keys = lists.values;
  lists.append(kRemoval);
  return "INSERT INTO bsky." + table_ + " AS t (" + conflict_key + ", rev, " + marker +
         ", indexed_at) SELECT " + keys + ", u.rev, u.is_delete, $" +
         std::to_string(lists.size + 1) + "::timestamptz FROM unnest(" + lists.arrays + ") AS u(" +
         lists.names + ") ON CONFLICT (" + conflict_key + ") DO UPDATE SET rev = EXCLUDED.rev, " +
         marker + " = EXCLUDED." + marker + empty() + " WHERE t.rev < EXCLUDED.rev";
}

std::string TableStatements::drop_stubs_sql() const {
  ColumnLists lists;
  lists.append(keys_);
  // The statement finds rows by key and not by ctid. It therefore examines a stub that changes
  // during the statement again, although the stub is then at another place.
  return "DELETE FROM bsky." + table_ + " AS t USING unnest(" + lists.arrays + ") AS u(" +
         lists.names + ") WHERE " + same_key() + " AND " + kIsStub;
}

std::string TableStatements::purge_sql(const std::string& marker) const {
  const std::string old = "t.actor_id = $1::int8 AND t.rev <= $2::int8";
  const std::string found = keys_of("t") + ", " + old_content("NULL::boolean");
  const std::string table = "bsky." + table_ + " AS t";
  if (marker.empty()) {
    return "DELETE FROM " + table + " WHERE " + old +
           " AND t.ctid = ANY (ARRAY(SELECT t.ctid FROM " + table + " WHERE " + old +
           " LIMIT $3::int8)) RETURNING " + found;
  }
  // The condition on cid excludes stubs, because a purge leaves stubs and must not process them
  // again.
  return "WITH old AS MATERIALIZED (SELECT " + found + ", t.ctid AS place FROM " + table +
         " WHERE " + old + " AND t.cid IS NOT NULL LIMIT $3::int8), written AS (UPDATE " + table +
         " SET rev = $2::int8, " + marker + " = true" + empty() +
         " WHERE t.ctid = ANY (ARRAY(SELECT place FROM old))) SELECT * FROM old";
}

std::string TableStatements::age_from() const {
  const bool has_created_at = std::any_of(columns_.begin(), columns_.end(), [](const auto& column) {
    return column.name == "created_at";
  });
  return has_created_at ? "least(t.created_at, t.indexed_at)" : "t.indexed_at";
}

std::string TableStatements::discard_sql() const {
  ColumnLists lists;
  lists.append(keys_);
  const std::string before = "$" + std::to_string(lists.size + 1) + "::timestamptz";
  return "DELETE FROM bsky." + table_ + " AS t USING unnest(" + lists.arrays + ") AS u(" +
         lists.names + ") WHERE " + same_key() + " AND (" + before + " IS NULL OR " + age_from() +
         " < " + before + ") RETURNING " + keys_of("t") + ", t.rev, " +
         old_content("NULL::boolean");
}

std::string TableStatements::discard_to_stub_sql(const std::string& marker) const {
  ColumnLists lists;
  lists.append(keys_);
  const std::string before = "$" + std::to_string(lists.size + 1) + "::timestamptz";
  // A record of any revision replaces a row of the revision -1. The locks of the accounts are held,
  // so both parts change the rows that `old` has. A row can be deleted if no reference relies on
  // its first CID. An hour after a retention of posts was set, no process writes such references.
  // The lock of the rule lasts until the end of the transaction, so that processes begin to write
  // them again only when the row is deleted.
  return "WITH rule AS MATERIALIZED (SELECT FROM skua.retention AS r WHERE r.collection = "
         "'app.bsky.feed.post' AND r.set_at < clock_timestamp() - interval '1 hour' FOR SHARE), "
         "old AS MATERIALIZED (SELECT " +
         keys_of("t") + ", t.rev, " + old_content("NULL::boolean") + ", " + kFirstCid +
         " IS NULL OR EXISTS (SELECT FROM rule) AND NOT EXISTS (" + relying_references() +
         ") AS is_free FROM unnest(" + lists.arrays + ") AS u(" + lists.names + ") JOIN bsky." +
         table_ + " AS t ON " + same_key() + " AND (" + before + " IS NULL OR " + age_from() +
         " < " + before + ")), emptied AS (UPDATE bsky." + table_ + " AS t SET rev = -1, " +
         marker + " = false" + empty() + " FROM old AS u WHERE " + same_key() +
         " AND NOT u.is_free), deleted AS (DELETE FROM bsky." + table_ +
         " AS t USING old AS u WHERE " + same_key() + " AND u.is_free) SELECT * FROM old";
}

std::string TableStatements::relying_references() {
  struct Reference {
    const char* table;
    const char* stem;
  };
  std::string all;
  for (const auto& [table, stem] :
       {Reference{"likes", "subject"}, Reference{"reposts", "subject"},
        Reference{"posts", "parent"}, Reference{"posts", "root"}, Reference{"posts", "quote"}}) {
    if (!all.empty()) all += " UNION ALL ";
    all += fmt::format(
        "SELECT FROM bsky.{0} AS f WHERE f.{1}_actor = t.actor_id AND f.{1}_rkey = t.rkey AND "
        "f.{1}_cid IS NULL",
        table, stem);
  }
  return all;
}

std::string TableStatements::rows_before_sql() const {
  const bool has_collection = keys_.size() > 2;
  const std::string collection = has_collection ? "t.collection_id" : "$5::int4";
  return "SELECT t.rkey, CASE WHEN t.rkey < 0 THEN bsky.rkey_text(t.actor_id, " + collection +
         ", t.rkey) END" + (has_collection ? ", t.collection_id, c.nsid" : "") + " FROM bsky." +
         table_ + " AS t" +
         (has_collection ? " JOIN bsky.collections AS c ON c.id = t.collection_id" : "") +
         " WHERE t.actor_id = $1::int8 AND " +
         (has_collection ? "(t.collection_id, t.rkey) > ($5::int4, $4::int8)"
                         : "t.rkey > $4::int8") +
         " AND t.rev < $2::int8 AND t.cid IS NOT NULL ORDER BY " +
         (has_collection ? "t.collection_id, t.rkey" : "t.rkey") + " LIMIT $3::int8";
}

std::string TableStatements::expired_sql(const std::string& condition) const {
  const std::string place = keys_.size() > 2 ? "t.collection_id = $3::int4"
                                             : "t.ctid >= $3::text::tid AND t.ctid < $4::text::tid";
  return "SELECT " + keys_of("t") + ", a.did FROM bsky." + table_ +
         " AS t JOIN bsky.actors AS a ON a.id = t.actor_id WHERE " + place + " AND " + age_from() +
         " < $1::timestamptz" + condition + " LIMIT $2::int8";
}

std::string TableStatements::read_keys_sql(const std::string& first_cid) const {
  ColumnLists lists;
  lists.append(keys_);
  lists.append(kRestOfRange);
  const std::string collection = keys_.size() > 2 ? "t.collection_id = r.collection_id AND " : "";
  return "SELECT r.place - 1, t.rkey, t.is_stub, t.first_cid FROM unnest(" + lists.arrays +
         ") WITH ORDINALITY AS r(" + lists.names + ", place) CROSS JOIN LATERAL (SELECT t.rkey, " +
         kIsStub + " AS is_stub, " + first_cid + " AS first_cid FROM bsky." + table_ +
         " AS t WHERE t.actor_id = r.actor_id AND " + collection +
         "t.rkey BETWEEN r.rkey AND r.last_rkey LIMIT r.row_limit) AS t";
}

std::string TableStatements::read_revs_sql() const {
  ColumnLists lists;
  lists.append(keys_);
  return "SELECT u.place - 1, t.rev FROM unnest(" + lists.arrays + ") WITH ORDINALITY AS u(" +
         lists.names + ", place) JOIN bsky." + table_ + " AS t ON " + same_key();
}

std::string TableStatements::same_reference() const {
  const auto once = std::find_if(references_.begin(), references_.end(),
                                 [](const auto& reference) { return reference.counts_once; });
  if (once == references_.end()) return {};
  // The condition is a range of one key, so that PostgreSQL can only use the index by subject and
  // account. The primary key also begins with the account, and its use would read all rows of the
  // account.
  const bool is_record = once->rkey.starts_with("t.");
  const std::string key =
      "(" + once->actor + (is_record ? ", " + once->rkey : "") + ", t.actor_id)";
  const std::string wanted =
      std::string("(u.ref_actor") + (is_record ? ", u.ref_rkey" : "") + ", u.actor_id)";
  return " FROM bsky." + table_ + " AS t WHERE " + key + " >= " + wanted + " AND " + key +
         " <= " + wanted + " AND " + once->collection + " = u.ref_collection";
}

std::string TableStatements::count_references_sql() const {
  const std::string same = same_reference();
  if (same.empty()) return {};
  return "SELECT c.number FROM unnest($1::int8[], $2::int8[], $3::int4[], $4::int8[], "
         "$5::int8[]) WITH ORDINALITY AS u(actor_id, ref_actor, ref_collection, ref_rkey, enough, "
         "place) CROSS JOIN LATERAL (SELECT count(*) AS number FROM (SELECT" +
         same + " LIMIT u.enough) AS found) AS c ORDER BY u.place";
}

std::string TableStatements::other_references_sql() const {
  const std::string same = same_reference();
  if (same.empty()) return {};
  return "SELECT u.place - 1 FROM unnest($1::int8[], $2::int8[], $3::int4[], $4::int8[], "
         "$5::int8[]) WITH ORDINALITY AS u(actor_id, ref_actor, ref_collection, ref_rkey, rkey, "
         "place) WHERE EXISTS (SELECT 1" +
         same + " AND t.rkey <> u.rkey)";
}

std::string TableStatements::own_references_sql() const {
  const auto once = std::find_if(references_.begin(), references_.end(),
                                 [](const auto& reference) { return reference.counts_once; });
  if (once == references_.end()) return {};
  return "SELECT r.place - 1, t.* FROM unnest($1::int8[], $2::int8[]) WITH ORDINALITY AS "
         "r(actor_id, row_limit, place) CROSS JOIN LATERAL (SELECT coalesce(" +
         once->actor + ", 0) AS ref_actor, coalesce(" + once->collection +
         ", 0) AS ref_collection, coalesce(" + once->rkey + ", 0) AS ref_rkey, t.rkey FROM bsky." +
         table_ + " AS t WHERE t.actor_id = r.actor_id LIMIT r.row_limit) AS t";
}

}  // namespace skua::writer
