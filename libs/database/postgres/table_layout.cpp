#include "postgres/table_layout.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "postgres/query_database.hpp"
#include "postgres/table_layout.sql.hpp"

namespace skua::postgres {

namespace {

/// So many tables are named.
constexpr std::size_t kNamed = 5;

struct OddTable {
  std::string name;
  std::string layout;
};

/// The catalog exists only with Citus, so the statement is not in a file whose statements every
/// database accepts.
constexpr const char* kDistributed =
    "SELECT d.logicalrelid::text, 'distributed by Citus' FROM pg_catalog.pg_dist_partition AS d "
    "JOIN pg_class AS c ON c.oid = d.logicalrelid WHERE c.relnamespace = 'bsky'::regnamespace "
    "ORDER BY 1";

}  // namespace

std::optional<std::string> table_layout_problem(Session& session) {
  if (is_query_database(session)) {
    return "this is a query database, which has no records of its own: use the database of a node, "
           "which `skua nodes list` names";
  }
  auto tables = session.query<OddTable>(sql::table_layout_odd);
  if (session.query_one<bool>(sql::table_layout_has_citus)) {
    for (OddTable& table : rows_of<OddTable>(session.run(kDistributed))) {
      tables.push_back(std::move(table));
    }
  }
  if (tables.empty()) return std::nullopt;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < tables.size() && i < kNamed; ++i) {
    texts.push_back(fmt::format("{} is {}", tables[i].name, tables[i].layout));
  }
  if (tables.size() > kNamed) texts.push_back(fmt::format("{} more", tables.size() - kNamed));
  return fmt::format(
      "{}: skua writes plain tables only, because it reads them by their blocks; connect to a "
      "database whose tables `skua migrate` made, or make plain tables of them",
      fmt::join(texts, ", "));
}

}  // namespace skua::postgres
