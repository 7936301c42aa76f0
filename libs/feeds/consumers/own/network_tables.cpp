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
  JoinedProjection joined;
  std::vector<const OwnTable*> shown;
  std::vector<std::string> names;
  for (const OwnTable& table : projection.own->tables) {
    if (table.is_internal) continue;
    if (table.on_nodes == OnNodes::Unknown) {
      joined.hidden.push_back(table.name);
      continue;
    }
    shown.push_back(&table);
    names.push_back(table.name);
  }
  ConsumerChange change(session);
  const auto former = joined_version(session, name);
  if (former && former->sha256 == projection.own->sha256) return joined;
  for (const std::string& table : names) {
    if (const auto other = session.query_first<std::string>(sql::joined_other, table, name)) {
      throw ConsumerError(fmt::format(
          "the projection {} has a table {}, too: give yours another name", *other, table));
    }
  }
  joined.change = former ? ProjectionChange::Replaced : ProjectionChange::Added;
  remove_texts(session, name);
  insert_text(session, projection);
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
  remove_texts(session, name);
  change.commit();
}

}  // namespace skua::consumers
