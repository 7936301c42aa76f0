#include "postgres/table_layout.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "postgres/table_layout.sql.hpp"

namespace skua::postgres {

namespace {

/// So many tables are named.
constexpr std::size_t kNamed = 5;

struct OddTable {
  std::string name;
  std::string layout;
};

}  // namespace

std::optional<std::string> table_layout_problem(Session& session) {
  // Without Citus its catalog does not exist, and a statement cannot name it.
  const bool has_citus = session.query_one<bool>(sql::table_layout_has_citus);
  auto tables = session.query<OddTable>(sql::table_layout_odd);
  if (has_citus) {
    for (OddTable& table : session.query<OddTable>(sql::table_layout_distributed)) {
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
