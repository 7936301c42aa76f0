#include <algorithm>

#include "writer/tables/table_statements.hpp"

// The text of the statements that look rows up without changing them.

namespace skua::writer {
namespace {

/// The columns of a range of keys besides its first key.
const std::vector<BatchColumn> kRestOfRange = {{"last_rkey", store::Array::Type::int8, ""},
                                               {"row_limit", store::Array::Type::int8, ""}};

}  // namespace

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

std::string TableStatements::expired_sql() const {
  const std::string place = keys_.size() > 2 ? "t.collection_id = $3::int4"
                                             : "t.ctid >= $3::text::tid AND t.ctid < $4::text::tid";
  return "SELECT " + keys_of("t") + ", a.did FROM bsky." + table_ +
         " AS t JOIN bsky.actors AS a ON a.id = t.actor_id WHERE " + place + " AND " + age_from() +
         " < $1::timestamptz LIMIT $2::int8";
}

std::string TableStatements::read_keys_sql() const {
  ColumnLists lists;
  lists.append(keys_);
  lists.append(kRestOfRange);
  const std::string collection = keys_.size() > 2 ? "t.collection_id = r.collection_id AND " : "";
  return "SELECT r.place - 1, t.rkey, t.is_stub FROM unnest(" + lists.arrays +
         ") WITH ORDINALITY AS r(" + lists.names + ", place) CROSS JOIN LATERAL (SELECT t.rkey, " +
         kIsStub + " AS is_stub FROM bsky." + table_ + " AS t WHERE t.actor_id = r.actor_id AND " +
         collection + "t.rkey BETWEEN r.rkey AND r.last_rkey LIMIT r.row_limit) AS t";
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
  // A range of one key: only the index by subject and account serves it. The primary key begins
  // with the account too, and would read all rows of it.
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

}  // namespace skua::writer
