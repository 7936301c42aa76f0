#include "integration/table_contents.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "consumers/projections/projection.hpp"

namespace skua::test {
namespace {

const std::set<std::string_view> kLeftOut = {"id", "indexed_at", "handle_check_due",
                                             "handle_lookups_charged_to", "first_cid"};

/// The condition of the rows that have content.
const std::map<std::string_view, std::string_view> kWithContent = {
    {"posts",
     "t.cid IS NOT NULL OR t.is_deleted AND t.rev > (SELECT a.floor_rev FROM bsky.actors AS a "
     "WHERE a.id = t.actor_id)"},
    {"post_stats", "(t.likes, t.reposts, t.replies, t.quotes) <> (0, 0, 0, 0)"},
    {"actor_stats", "(t.followers, t.follows, t.posts) <> (0, 0, 0)"},
    {"tag_trends", "t.posts <> 0"}};

/// The CIDs of references that a row does not have if the row of the post has them.
const std::set<std::string_view> kReferenceCids = {"subject_cid", "parent_cid", "root_cid",
                                                   "quote_cid", "pinned_cid"};

/// The value of a column in names.
std::string expression_of(const std::string& column, std::string_view type) {
  const std::string value = "t." + column;
  if (type == "bigint" &&
      (column == "recipient" || column.ends_with("actor_id") || column.ends_with("_actor"))) {
    return "(SELECT a.did FROM bsky.actors AS a WHERE a.id = " + value + ")";
  }
  if (kReferenceCids.contains(column)) {
    const std::string name = column.substr(0, column.size() - 4);
    return fmt::format(
        "coalesce(t.{0}_cid, (SELECT coalesce(p.first_cid, p.cid) FROM bsky.posts AS p WHERE "
        "p.actor_id = t.{0}_actor AND p.rkey = t.{0}_rkey))",
        name);
  }
  if (type == "integer" && (column == "collection_id" || column.ends_with("_collection"))) {
    return "(SELECT c.nsid FROM bsky.collections AS c WHERE c.id = " + value + ")";
  }
  if (type == "bigint[]") {
    return "(SELECT array_agg(a.did ORDER BY u.place) FROM unnest(" + value +
           ") WITH ORDINALITY AS u(id, place) JOIN bsky.actors AS a USING (id))";
  }
  return value;
}

}  // namespace

std::set<std::string> table_contents(postgres::Session& session) {
  std::string projections;
  for (const consumers::Projection& each : consumers::projections()) {
    projections += (projections.empty() ? "" : ",") + each.name;
  }
  const postgres::Rows columns = session.run(
      "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class AS c "
      "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
      "WHERE c.relnamespace = 'bsky'::regnamespace AND (c.relkind IN ('r', 'p') OR c.relkind = 'v' "
      "AND c.relname = ANY ('{" +
      projections +
      "}')) "
      "ORDER BY c.relname, a.attnum");
  std::map<std::string, std::string> fields;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string column(columns.text(i, 1));
    if (kLeftOut.contains(column)) continue;
    const std::string table(columns.text(i, 0));
    fields[table] += ", '" + column + "', " + expression_of(column, columns.text(i, 2));
  }
  std::set<std::string> lines;
  for (const auto& [table, values] : fields) {
    std::string sql = "SELECT jsonb_strip_nulls(jsonb_build_object(" + values.substr(2) +
                      "))::text FROM bsky." + table + " AS t";
    if (const auto where = kWithContent.find(table); where != kWithContent.end()) {
      sql += " WHERE " + std::string(where->second);
    }
    const postgres::Rows rows = session.run(sql);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      lines.insert(table + " " + std::string(rows.text(i, 0)));
    }
  }
  return lines;
}

}  // namespace skua::test
