#include "consumers/own/own_functions.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "consumers/fold_step.hpp"
#include "consumers/own/own_differences.hpp"
#include "consumers/own/own_functions.sql.hpp"
#include "consumers/projections/projection_tables.hpp"
#include "postgres/sql_error.hpp"

namespace skua::consumers {
namespace {

using Kind = OwnStatement::Kind;

/// A row of own_collections.
struct OwnCollection {
  std::string nsid;
  std::optional<std::int32_t> id;
  std::optional<std::string> table;
};

/// Returns a literal of SQL (standard_conforming_strings is on).
std::string literal(std::string_view text) {
  std::string quoted(text);
  boost::replace_all(quoted, "'", "''");
  return "'" + quoted + "'";
}

std::string parameters_of(Kind kind) {
  switch (kind) {
    case Kind::Fill:
      return "";
    case Kind::Fold:
      return "int8, int8, int4, int4";
    case Kind::Differences:
      return "int4";
  }
  return "";
}

/// The views of built-in projections, in the schema bsky.
std::vector<std::string> built_in_views() {
  std::vector<std::string> names;
  for (const Projection& projection : projections()) {
    for (const ProjectionTable& table : projection.tables) {
      if (!table.is_internal) names.push_back(table.name);
    }
  }
  return names;
}

/// The program passes these to EXECUTE.
std::string arguments_of(Kind kind) {
  switch (kind) {
    case Kind::Fill:
      return "";
    case Kind::Fold:
      return " USING $1, $2, $3, $4";
    case Kind::Differences:
      return " USING $1";
  }
  return "";
}

/// Creates the functions of one consumer.
class Functions {
 public:
  Functions(postgres::Session& session, const Projection& projection, std::int32_t consumer_id,
            const OwnKeys& keys)
      : session_(session),
        projection_(projection),
        own_(*projection.own),
        consumer_id_(consumer_id),
        keys_(keys) {}

  void create() {
    for (const OwnStatement& statement : own_.statements) {
      check(statement);
      create(statement.suffix, parameters_of(statement.kind), returned(statement.kind),
             body_of(statement));
    }
    for (const OwnSum& sum : own_.checked_sums) check(sum);
    if (own_.compares_with_fill) create("verify", "int4", "SETOF text", comparison());
  }

 private:
  static std::string returned(Kind kind) {
    return kind == Kind::Differences ? "SETOF text" : "void";
  }

  std::string sql_of(std::string_view text, const std::string& records) const {
    return own_sql(projection_, consumer_id_, keys_, text, records);
  }

  std::string table(const OwnTable& table) const {
    return table_of(projection_, table.name, consumer_id_);
  }

  /// Returns a statement of PL/pgSQL that raises an error with its cure if a table was dropped.
  std::string require_tables() const {
    std::vector<std::string> tables;
    for (const OwnTable& one : own_.tables) tables.push_back(literal(table(one)));
    const std::string missing = fmt::format(
        "(SELECT min(t.name) FROM unnest(ARRAY[{}]) AS t(name) WHERE "
        "to_regclass(t.name) IS NULL)",
        fmt::join(tables, ", "));
    return fmt::format(
        "  IF {0} IS NOT NULL THEN\n    RAISE undefined_table USING MESSAGE = format('the table %s "
        "was dropped: `skua consumers rebuild {1}` builds it again', {0});\n  END IF;\n",
        missing, projection_.name);
  }

  /// Has PostgreSQL parse a statement as the body of a function, which allows only SELECT, INSERT,
  /// UPDATE and DELETE. Returns the name of the function.
  std::string parse(const std::string& part, const std::string& parameters,
                    const std::string& sql) {
    std::string name = fmt::format("check_{}", consumer_id_);
    try {
      session_.run_single(
          fmt::format("CREATE FUNCTION projections.{}({}) RETURNS void LANGUAGE sql "
                      "BEGIN ATOMIC {}\n; END",
                      name, parameters, sql));
    } catch (const postgres::SqlError& error) {
      if (failed_work(error) == FailedWork::Server) throw;
      throw std::invalid_argument(fmt::format("{}: {}", part, error.what()));
    }
    return name;
  }

  void refuse_faults(const std::string& part, const std::vector<std::string>& faults) {
    if (!faults.empty()) {
      throw std::invalid_argument(fmt::format("{}: {}", part, fmt::join(faults, "; ")));
    }
  }

  void check(const OwnStatement& statement) {
    const std::string parameters = parameters_of(statement.kind);
    const std::string name = parse(statement.part, parameters, sql_of(statement.sql, keys_.filled));
    refuse_faults(statement.part, session_.query<std::string>(sql::own_faults, name,
                                                              statement.kind == Kind::Differences,
                                                              postgres::column(built_in_views())));
    session_.run(fmt::format("DROP FUNCTION projections.{}({})", name, parameters));
  }

  void check(const OwnSum& sum) {
    const std::string name = parse(sum.part, "", sql_of(sum.select, keys_.filled));
    refuse_faults(sum.part,
                  session_.query<std::string>(sql::own_sum_faults, name,
                                              table_of(projection_, sum.over, consumer_id_)));
    session_.run(fmt::format("DROP FUNCTION projections.{}()", name));
  }

  std::string body_of(const OwnStatement& statement) const {
    const std::string sql = literal(sql_of(statement.sql, keys_.filled));
    const std::string arguments = arguments_of(statement.kind);
    switch (statement.kind) {
      case Kind::Fill:
        return fmt::format("BEGIN EXECUTE {}; END", sql);
      case Kind::Differences:
        return fmt::format("BEGIN RETURN QUERY EXECUTE {}{}; END", sql, arguments);
      case Kind::Fold:
        break;
    }
    std::vector<std::string> tables;
    for (const OwnTable& one : own_.tables) tables.push_back(literal(table(one)));
    const std::string written = fmt::format(
        "(SELECT sum(pg_stat_get_xact_tuples_inserted(t.id) + pg_stat_get_xact_tuples_updated(t.id)"
        " + pg_stat_get_xact_tuples_deleted(t.id)) FROM unnest(ARRAY[{}]::regclass[]) AS t(id))",
        fmt::join(tables, ", "));
    return fmt::format(
        "DECLARE\n  written int8;\nBEGIN\n{4}  written := {0};\n  EXECUTE {1}{2};\n"
        "  written := {0} - written;\n"
        "  IF written > {3} THEN\n    RAISE program_limit_exceeded USING MESSAGE = format('a batch "
        "writes %s rows, more than `-- batch rows: {3}` allows', written);\n  END IF;\nEND",
        written, sql, arguments, own_.limits.rows, require_tables());
  }

  /// Fills temporary tables and compares them with the tables. With a number of keys, compares only
  /// records chosen at random, if the projection has such statements.
  std::string comparison() const {
    std::string body = "BEGIN\n" + require_tables();
    if (!own_.samples.empty()) {
      body += "  IF $1 IS NOT NULL THEN\n";
      for (const std::string& sample : own_.samples) {
        body += fmt::format("    RETURN QUERY EXECUTE {} USING $1;\n",
                            literal(sql_of(sample, keys_.compared)));
      }
      body += "    RETURN;\n  END IF;\n";
    }
    // Within the function, the current role is skua_projection.
    body +=
        "  IF NOT has_database_privilege(current_database(), 'TEMPORARY') THEN\n    RAISE "
        "insufficient_privilege USING MESSAGE = format('the comparison needs temporary tables: the "
        "owner of the database runs `GRANT TEMPORARY ON DATABASE %I TO skua_projection`', "
        "current_database());\n  END IF;\n";
    for (const OwnTable& one : own_.tables) {
      body += fmt::format(
          "  CREATE TEMP TABLE skua_new_{} (LIKE {} INCLUDING INDEXES) ON COMMIT DROP;\n", one.name,
          table(one));
    }
    for (const OwnStatement& statement : own_.statements) {
      if (statement.kind != Kind::Fill) continue;
      std::string fill = statement.sql;
      for (const OwnTable& one : own_.tables) {
        boost::replace_all(fill, "{" + one.name + "}", "pg_temp.skua_new_" + one.name);
      }
      body += fmt::format("  EXECUTE {};\n", literal(sql_of(fill, keys_.compared)));
    }
    for (const OwnTable& one : own_.tables) {
      const std::string stored =
          fmt::format("SELECT {} FROM {} WHERE {}", one.columns, table(one), one.condition);
      const std::string filled = fmt::format("SELECT {} FROM pg_temp.skua_new_{} WHERE {}",
                                             one.columns, one.name, one.condition);
      body += fmt::format("  RETURN QUERY EXECUTE {};\n",
                          literal(own_differences(one.name, filled, stored)));
    }
    return body + "END";
  }

  void create(const std::string& suffix, const std::string& parameters, const std::string& returned,
              const std::string& body) {
    const std::string function =
        fmt::format("projections.{}_{}_{}({})", projection_.name, suffix, consumer_id_, parameters);
    session_.run_single(
        fmt::format("CREATE FUNCTION {} RETURNS {} LANGUAGE plpgsql SECURITY DEFINER "
                    "SET search_path = pg_catalog, pg_temp AS {}",
                    function, returned, literal(body)));
    session_.run(fmt::format("REVOKE ALL ON FUNCTION {} FROM PUBLIC", function));
    session_.run(fmt::format("GRANT EXECUTE ON FUNCTION {} TO CURRENT_USER", function));
    if (has_writer()) {
      session_.run(fmt::format("GRANT EXECUTE ON FUNCTION {} TO skua_writer", function));
    }
    session_.run(fmt::format("ALTER FUNCTION {} OWNER TO skua_projection", function));
  }

  bool has_writer() {
    if (!has_writer_) {
      has_writer_ = session_.run("SELECT to_regrole('skua_writer') IS NOT NULL").boolean(0, 0);
    }
    return *has_writer_;
  }

  postgres::Session& session_;
  const Projection& projection_;
  const OwnParts& own_;
  const std::int32_t consumer_id_;
  const OwnKeys& keys_;
  std::optional<bool> has_writer_;
};

}  // namespace

OwnKeys keys_of_collections(postgres::Session& session, const Projection& projection) {
  const std::vector<std::string>& nsids = projection.own->collections;
  if (nsids.empty()) return {};
  const std::string numbers = fmt::format(
      "ANY (ARRAY(SELECT n.id FROM bsky.collections AS n WHERE n.nsid = ANY ('{{{}}}'::text[])))",
      fmt::join(nsids, ","));
  std::vector<std::string> all;
  std::vector<std::string> some;
  std::vector<std::string> first;
  // Records of accounts from a random one on.
  const std::string random(kRandomAccountNumber);
  for (const OwnCollection& collection :
       session.query<OwnCollection>(sql::own_collections, postgres::column(nsids))) {
    if (!collection.id) {
      throw std::invalid_argument(
          fmt::format("`-- collections`: no record of {} was indexed, and no lexicon of it was "
                      "added: check the "
                      "name, or run `skua lexicon add` with its lexicon first",
                      collection.nsid));
    }
    if (!collection.table) continue;
    const std::string select = fmt::format(
        "SELECT r.actor_id, r.rkey, {} AS collection_id FROM bsky.{} AS r WHERE r.cid IS NOT NULL",
        *collection.id, *collection.table);
    const std::string order = "ORDER BY r.actor_id, r.rkey LIMIT $1";
    all.push_back(select);
    some.push_back(
        fmt::format("({} AND (r.actor_id, r.rkey) >= ({}, 0) {})", select, random, order));
    first.push_back(fmt::format("({} {})", select, order));
  }
  // The records of collections without a table, and invalid records of the others.
  const std::string others = fmt::format(
      "SELECT r.actor_id, r.rkey, r.collection_id FROM bsky.records AS r WHERE r.collection_id = "
      "{}",
      numbers);
  const std::string order = "ORDER BY r.actor_id, r.collection_id, r.rkey LIMIT $1";
  all.push_back(others);
  some.push_back(fmt::format("({} AND r.actor_id >= {} {})", others, random, order));
  first.push_back(fmt::format("({} {})", others, order));
  const std::string records = fmt::format("{}", fmt::join(all, "\nUNION ALL "));
  return {
      .filled = records,
      .touched = fmt::format(
          "SELECT DISTINCT c.actor_id, c.rkey, c.collection_id FROM "
          "skua.changes_between($1::int8, $2::int8) AS c WHERE c.kind = 1 AND c.collection_id = {}",
          numbers),
      .compared = records,
      .some = fmt::format("{}", fmt::join(some, "\nUNION ")),
      .first = fmt::format("{}", fmt::join(first, "\nUNION "))};
}

void create_own_functions(postgres::Session& session, const Projection& projection,
                          std::int32_t consumer_id, const OwnKeys& keys) {
  session.execute(sql::own_require_role);
  for (const ProjectionTable& table : projection.tables) {
    session.run(fmt::format("GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO skua_projection",
                            table_of(projection, table.name, consumer_id)));
  }
  // Names without a schema are those of PostgreSQL, as they are when the functions run.
  const auto former = session.query_one<std::string>(sql::own_search_path);
  session.execute(sql::own_set_search_path, "pg_catalog, pg_temp");
  Functions(session, projection, consumer_id, keys).create();
  session.execute(sql::own_set_search_path, former);
}

std::string own_sql(const Projection& projection, std::int32_t consumer_id, const OwnKeys& keys,
                    std::string_view text, const std::string& records) {
  std::string sql = sql_for(projection, consumer_id, text);
  boost::replace_all(sql, "{skua records}", records);
  boost::replace_all(sql, "{skua touched}", keys.touched);
  boost::replace_all(sql, "{skua some records}", keys.some);
  if (const auto& nsids = projection.own->collections; !nsids.empty()) {
    boost::replace_all(
        sql, "{skua collection}",
        fmt::format("(SELECT n.id FROM bsky.collections AS n WHERE n.nsid = '{}')", nsids.front()));
  }
  return sql;
}

void check_in_database(postgres::Session& session, const Projection& projection) {
  const std::int32_t id = new_consumer_number(session);
  const OwnKeys keys = keys_of_collections(session, projection);
  try {
    postgres::Transaction transaction(session);
    create_tables(session, projection, id);
    create_own_functions(session, projection, id, keys);
    apply_changes(
        session, projection,
        {.consumer_id = id, .name = projection.name, .lane = 0, .lanes = 1, .first = 1, .end = 1});
  } catch (const postgres::SqlError& error) {
    if (failed_work(error) == FailedWork::Server) throw;
    throw std::invalid_argument(error.what());
  }
}

StatementLimit::StatementLimit(postgres::Session& session, std::chrono::milliseconds most)
    : session_(session),
      former_(session.query_one<std::string>(sql::own_limit_statements, most.count())) {}

void StatementLimit::end() {
  session_.execute(sql::own_set_limit, former_);
}

std::int32_t new_consumer_number(postgres::Session& session) {
  return session.query_one<std::int32_t>(sql::own_number);
}

void show_own_tables(postgres::Session& session, const Projection& projection,
                     std::optional<std::int32_t> consumer_id) {
  for (const ProjectionTable& table : projection.tables) {
    if (table.is_internal) continue;
    const auto shown = std::ranges::find(projection.own->tables, table.name, &OwnTable::name);
    session.execute(sql::own_show, table.name, consumer_id, shown->condition, projection.help);
  }
}

void drop_former_views(postgres::Session& session, const Projection& former,
                       const Projection& next) {
  for (const ProjectionTable& table : former.tables) {
    const auto same = std::ranges::find(next.tables, table.name, &ProjectionTable::name);
    if (table.is_internal || (same != next.tables.end() && !same->is_internal)) continue;
    session.run("DROP VIEW IF EXISTS projections." + table.name);
  }
}

std::vector<std::string> own_tables(postgres::Session& session, std::int32_t consumer_id) {
  constexpr std::string_view kTable = "TABLE ";
  std::vector<std::string> tables;
  for (const auto& object : session.query<std::string>(sql::own_objects, consumer_id)) {
    if (object.starts_with(kTable)) tables.push_back(object.substr(kTable.size()));
  }
  return tables;
}

void drop_own_objects(postgres::Session& session, std::int32_t consumer_id) {
  for (const auto& object : session.query<std::string>(sql::own_objects, consumer_id)) {
    // A name cannot be a parameter of a statement. The server has quoted the name where necessary.
    session.run("DROP " + object);
  }
}

}  // namespace skua::consumers
