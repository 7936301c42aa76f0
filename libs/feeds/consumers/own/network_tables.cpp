#include "consumers/own/network_tables.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "consumers/consumer_table.hpp"
#include "consumers/own/network_tables.sql.hpp"

namespace skua::consumers {
namespace {

std::vector<std::string> key_of(const OwnTable& table) {
  return table.on_nodes == OnNodes::Sums ? table.key : std::vector<std::string>();
}

/// Returns the version that the query database has.
std::optional<StoredProjection> joined_version(postgres::Session& session,
                                               const std::string& name) {
  auto all = read_stored_projections(session);
  const auto found = std::ranges::find(all, name, &StoredProjection::name);
  if (found == all.end()) return std::nullopt;
  return std::move(*found);
}

}  // namespace

JoinedProjection join_projection(postgres::Session& session, const Projection& projection) {
  const std::string& name = projection.name;
  ConsumerChange change(session);
  JoinedProjection joined;
  std::vector<const OwnTable*> shown;
  std::vector<std::string> names;
  for (const OwnTable& table : projection.own->tables) {
    if (table.is_internal) continue;
    if (table.on_nodes == OnNodes::Unknown) {
      joined.hidden.push_back(table.name);
      continue;
    }
    if (const auto other = session.query_first<std::string>(sql::joined_other, table.name, name)) {
      throw ConsumerError(fmt::format(
          "the projection {} has a table {}, too: give yours another name", *other, table.name));
    }
    shown.push_back(&table);
    names.push_back(table.name);
  }
  const auto former = joined_version(session, name);
  if (former && former->sha256 == projection.own->sha256) return joined;
  joined.change = former ? ProjectionChange::Replaced : ProjectionChange::Added;
  session.execute(sql::joined_remove, name);
  session.execute(sql::joined_insert, name, projection.version, projection.help,
                  projection.own->sha256, projection.own->text);
  session.execute(sql::joined_drop_tables, name, names);
  for (const OwnTable* table : shown) {
    session.execute(sql::joined_show, table->name, name, projection.help, table->types,
                    key_of(*table));
  }
  change.commit();
  return joined;
}

void part_projection(postgres::Session& session, const std::string& name) {
  ConsumerChange change(session);
  session.execute(sql::joined_drop_tables, name, std::vector<std::string>());
  session.execute(sql::joined_remove, name);
  change.commit();
}

}  // namespace skua::consumers
