#include "consumers/projections/projection_tables.hpp"

#include <vector>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

#include "consumers/projections/projection_tables.sql.hpp"
#include "postgres/parameters.hpp"
#include "postgres/rows.hpp"

namespace skua::consumers {
namespace {

std::string table_of(const ProjectionTable& table, std::int32_t consumer_id) {
  return fmt::format("{}_{}", table.name, consumer_id);
}

}  // namespace

std::string sql_for(const Projection& projection, std::int32_t consumer_id, std::string_view sql) {
  std::string text(sql);
  boost::replace_all(text, "{consumer}", std::to_string(consumer_id));
  for (const ProjectionTable& table : projection.tables) {
    boost::replace_all(text, fmt::format("{{{}}}", table.name),
                       "skua." + table_of(table, consumer_id));
  }
  return text;
}

bool may_change_tables(postgres::Session& session) {
  return session
      .run(
          "SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class AS c WHERE c.oid = "
          "'skua.consumers'::regclass")
      .boolean(0, 0);
}

void build_tables(postgres::Session& session, const Projection& projection,
                  std::int32_t consumer_id) {
  session.run(
      "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; "
      "SET LOCAL enable_mergejoin = on; SET LOCAL work_mem = '256MB'; "
      "SET LOCAL maintenance_work_mem = '256MB'");
  for (const ProjectionTable& table : projection.tables) {
    // Rows are updated often. Free space on each page keeps an update from touching the indexes.
    session.run(fmt::format("CREATE TABLE skua.{} ({}) WITH (fillfactor = 80)",
                            table_of(table, consumer_id), table.definition));
    session.run(fmt::format("COMMENT ON TABLE skua.{} IS '{}{}.'", table_of(table, consumer_id),
                            table.is_internal ? "Rows of the projection " : "Rows of bsky.",
                            table.is_internal ? projection.name : table.name));
  }
  for (const std::string& sql : projection.fill) session.run(sql_for(projection, consumer_id, sql));
  for (const ProjectionTable& table : projection.tables) {
    for (const std::string& columns : table.indexes) {
      session.run(fmt::format("CREATE INDEX ON skua.{} {}", table_of(table, consumer_id), columns));
    }
    session.run(fmt::format("ANALYZE skua.{}", table_of(table, consumer_id)));
  }
}

void show_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id) {
  for (const ProjectionTable& table : projection.tables) {
    if (table.is_internal) continue;
    session.run(fmt::format("SELECT skua.show_projection('{}', {})", table.name, consumer_id));
  }
}

void hide_tables(postgres::Session& session, const Projection& projection) {
  for (const ProjectionTable& table : projection.tables) {
    if (table.is_internal) continue;
    session.run(fmt::format("SELECT skua.show_projection('{}', NULL)", table.name));
  }
}

std::optional<std::int32_t> lock_published(postgres::Session& session,
                                           const Projection& projection) {
  if (projection.publish.empty()) return std::nullopt;
  return session.query_first<std::int32_t>(sql::projection_lock_live, projection.name);
}

void publish_tables(postgres::Session& session, const Projection& projection,
                    std::optional<std::int32_t> former, std::optional<std::int32_t> next) {
  if (projection.publish.empty()) return;
  const ProjectionTable& table = projection.tables.front();
  const std::string missing = fmt::format("(SELECT * FROM skua.{} WHERE false) AS missing",
                                          table_of(table, former ? *former : next.value()));
  std::string sql = projection.publish;
  boost::replace_all(sql, "{former}", former ? "skua." + table_of(table, *former) : missing);
  boost::replace_all(sql, "{next}", next ? "skua." + table_of(table, *next) : missing);
  session.run(sql);
}

std::vector<std::string> restore_views(postgres::Session& session) {
  std::vector<std::string> restored;
  postgres::Transaction transaction(session);
  for (const Projection& projection : projections()) {
    for (const ProjectionTable& table : projection.tables) {
      if (table.is_internal) continue;
      if (session.query_one<bool>(sql::projection_has_view, table.name)) continue;
      session.run(
          fmt::format("CREATE TEMP TABLE restored_view ({}) ON COMMIT DROP", table.definition));
      const auto columns = session.query_one<std::string>(sql::projection_no_columns);
      session.run(
          fmt::format("CREATE VIEW bsky.{} AS SELECT {} WHERE false; DROP TABLE restored_view",
                      table.name, columns));
      restored.push_back("bsky." + table.name);
    }
  }
  transaction.commit();
  return restored;
}

std::string dependents_of_tables(postgres::Session& session, const Projection& projection,
                                 std::int32_t consumer_id) {
  std::vector<std::string> names;
  for (const ProjectionTable& table : projection.tables) {
    names.push_back("skua." + table_of(table, consumer_id));
  }
  return session.query_one<std::string>(sql::projection_dependents, postgres::column(names));
}

void drop_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id) {
  for (const ProjectionTable& table : projection.tables) {
    session.run(fmt::format("DROP TABLE IF EXISTS skua.{}", table_of(table, consumer_id)));
  }
}

}  // namespace skua::consumers
