#pragma once

#include <sstream>
#include <string>

namespace skua::test {

/// A statement that describes the schema of a database in one text, to compare two of them:
/// columns, constraints, indexes, views, functions and triggers, with their comments and rights.
/// Columns are in the order of their names, because a migration adds them at the end.
inline constexpr const char* kSchemaText = R"(
WITH places AS (SELECT oid FROM pg_namespace WHERE nspname IN ('bsky', 'skua', 'lexicon')),
relations AS (
  SELECT c.oid::regclass::text AS name, c.* FROM pg_class AS c WHERE c.relnamespace IN (SELECT oid FROM places)),
texts(text) AS (
  SELECT concat_ws(' | ', n.nspname, (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(n.nspacl) AS a), obj_description(n.oid, 'pg_namespace'))
  FROM pg_namespace AS n WHERE n.oid IN (SELECT oid FROM places)
  UNION ALL
  SELECT concat_ws(' | ', c.relkind, c.name, c.reloptions, (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(c.relacl) AS a),
                   obj_description(c.oid, 'pg_class'))
  FROM relations AS c
  UNION ALL
  SELECT concat_ws(' | ', c.name, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstorage, a.attidentity,
                   a.attcollation::regcollation, a.attacl, pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum))
  FROM relations AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
  UNION ALL
  SELECT concat_ws(' | ', c.name, pg_get_viewdef(c.oid)) FROM relations AS c WHERE c.relkind = 'v'
  UNION ALL
  SELECT concat_ws(' | ', c.name, pg_get_indexdef(c.oid)) FROM relations AS c WHERE c.relkind IN ('i', 'I')
  UNION ALL
  SELECT concat_ws(' | ', c.name, k.conname, pg_get_constraintdef(k.oid)) FROM pg_constraint AS k JOIN relations AS c ON c.oid = k.conrelid
  UNION ALL
  SELECT concat_ws(' | ', c.name, pg_get_triggerdef(t.oid)) FROM pg_trigger AS t JOIN relations AS c ON c.oid = t.tgrelid
  WHERE NOT t.tgisinternal
  UNION ALL
  SELECT concat_ws(' | ', pg_get_statisticsobjdef(s.oid), obj_description(s.oid, 'pg_statistic_ext')) FROM pg_statistic_ext AS s
  UNION ALL
  SELECT concat_ws(' | ', pg_get_functiondef(p.oid), (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(p.proacl) AS a),
                   obj_description(p.oid, 'pg_proc'))
  FROM pg_proc AS p WHERE p.pronamespace IN (SELECT oid FROM places)
  UNION ALL
  SELECT concat_ws(' | ', d.defaclnamespace::regnamespace, d.defaclobjtype,
                   (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(d.defaclacl) AS a))
  FROM pg_default_acl AS d
)
SELECT string_agg(text, E'\n' ORDER BY text COLLATE "C") FROM texts)";

/// The first lines in which two such texts differ.
inline std::string first_difference(const std::string& one, const std::string& other) {
  std::istringstream first(one);
  std::istringstream second(other);
  std::string a;
  std::string b;
  while (std::getline(first, a) && std::getline(second, b)) {
    if (a != b) return a + "\n" + b;
  }
  return "the end of the shorter one: " + a + "\n" + b;
}

}  // namespace skua::test
