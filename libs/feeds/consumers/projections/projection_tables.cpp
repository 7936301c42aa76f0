#include "consumers/projections/projection_tables.hpp"

#include <vector>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

#include "consumers/own/own_functions.hpp"
#include "consumers/projections/projection_tables.sql.hpp"
#include "postgres/migrations.hpp"
#include "postgres/parameters.hpp"
#include "postgres/rows.hpp"

namespace skua::consumers {

std::string table_of(const Projection& projection, std::string_view table,
                     std::int32_t consumer_id) {
  return fmt::format("{}.{}_{}", projection.own ? "projections" : "skua", table, consumer_id);
}

std::string sql_for(const Projection& projection, std::int32_t consumer_id, std::string_view sql) {
  std::string text(sql);
  boost::replace_all(text, "{consumer}", std::to_string(consumer_id));
  for (const ProjectionTable& table : projection.tables) {
    boost::replace_all(text, fmt::format("{{{}}}", table.name),
                       table_of(projection, table.name, consumer_id));
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

void create_tables(postgres::Session& session, const Projection& projection,
                   std::int32_t consumer_id) {
  for (const ProjectionTable& table : projection.tables) {
    const std::string name = table_of(projection, table.name, consumer_id);
    // Rows are updated often. Free space on each page keeps an update from touching the indexes.
    session.run(fmt::format("CREATE TABLE {} ({}) WITH (fillfactor = 80)", name, table.definition));
    const std::string view = (projection.own ? "projections." : "bsky.") + table.name;
    session.run(fmt::format("COMMENT ON TABLE {} IS '{}{}.'", name,
                            table.is_internal ? "Rows of the projection " : "Rows of ",
                            table.is_internal ? projection.name : view));
  }
}

void fill_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id) {
  std::optional<StatementLimit> limit;
  if (projection.own) limit.emplace(session, projection.own->limits.build);
  for (const std::string& sql : projection.fill) session.run(sql_for(projection, consumer_id, sql));
  if (limit) limit->end();
  for (const ProjectionTable& table : projection.tables) {
    const std::string name = table_of(projection, table.name, consumer_id);
    for (const std::string& columns : table.indexes) {
      session.run(fmt::format("CREATE INDEX ON {} {}", name, columns));
    }
    session.run("ANALYZE " + name);
  }
}

void build_tables(postgres::Session& session, const Projection& projection,
                  std::int32_t consumer_id) {
  session.run(
      "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; "
      "SET LOCAL enable_mergejoin = on; SET LOCAL work_mem = '256MB'; "
      "SET LOCAL maintenance_work_mem = '256MB'");
  create_tables(session, projection, consumer_id);
  if (projection.own) {
    create_own_functions(session, projection, consumer_id,
                         keys_of_collections(session, projection));
  }
  fill_tables(session, projection, consumer_id);
}

void show_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id) {
  if (projection.own) return show_own_tables(session, projection, consumer_id);
  for (const ProjectionTable& table : projection.tables) {
    if (table.is_internal) continue;
    session.run(fmt::format("SELECT skua.show_projection('{}', {})", table.name, consumer_id));
  }
}

void hide_tables(postgres::Session& session, const Projection& projection) {
  if (projection.own) return show_own_tables(session, projection, std::nullopt);
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
  const std::string missing =
      fmt::format("(SELECT * FROM {} WHERE false) AS missing",
                  table_of(projection, table.name, former ? *former : next.value()));
  std::string sql = projection.publish;
  boost::replace_all(sql, "{former}", former ? table_of(projection, table.name, *former) : missing);
  boost::replace_all(sql, "{next}", next ? table_of(projection, table.name, *next) : missing);
  session.run(sql);
}

std::vector<std::string> restore_views(postgres::Session& session) {
  std::vector<std::string> missing;
  for (const Projection& projection : projections()) {
    for (const ProjectionTable& table : projection.tables) {
      if (table.is_internal) continue;
      if (session.query_one<bool>(sql::projection_has_view, table.name)) continue;
      missing.push_back("bsky." + table.name);
    }
  }
  if (missing.empty()) return missing;
  postgres::Transaction transaction(session);
  for (const postgres::SchemaFile& file : postgres::schema().definitions) {
    if (file.name == postgres::kProjectionViews) session.run(std::string(file.sql));
  }
  transaction.commit();
  return missing;
}

std::string dependents_of_tables(postgres::Session& session, const std::string& name,
                                 const std::string& definition, std::int32_t consumer_id) {
  std::vector<std::string> tables;
  if (!definition.empty()) {
    tables = own_tables(session, consumer_id);
  } else if (const Projection* projection = find_projection(name)) {
    for (const ProjectionTable& table : projection->tables) {
      tables.push_back(table_of(*projection, table.name, consumer_id));
    }
  }
  return session.query_one<std::string>(sql::projection_dependents, postgres::column(tables));
}

void drop_tables(postgres::Session& session, const Projection& projection,
                 std::int32_t consumer_id) {
  for (const ProjectionTable& table : projection.tables) {
    session.run("DROP TABLE IF EXISTS " + table_of(projection, table.name, consumer_id));
  }
}

}  // namespace skua::consumers
