#include "doctor/roles.hpp"

#include <fmt/format.h>

#include "base/count_text.hpp"

namespace skua::doctor {
namespace {

// Skua creates and drops partitions, indexes and tables of projections. Only the owner may do that.
constexpr const char* kRole =
    "WITH tables AS (SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name FROM pg_class AS "
    "c "
    "JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname IN ('bsky', 'skua') "
    "AND c.relkind IN ('r', 'p') AND NOT pg_has_role(c.relowner, 'USAGE')) "
    "SELECT current_user, count(*), min(name), "
    "EXISTS (SELECT FROM pg_roles WHERE rolname = 'skua_reader') FROM tables";

constexpr const char* kIsReader = "SELECT pg_has_role('skua_reader', 'USAGE')";

constexpr const char* kReader =
    "WITH lacking AS (SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class AS c "
    "JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v') AND "
    "(n.nspname = 'bsky' OR n.nspname = 'skua' AND c.relname IN (SELECT name FROM "
    "skua.reader_tables)) AND NOT (has_schema_privilege('skua_reader', n.oid, 'USAGE') "
    "AND has_table_privilege('skua_reader', c.oid, 'SELECT'))) "
    "SELECT count(*), min(name) FROM lacking";

}  // namespace

RolesFound read_roles(store::Session& session) {
  const store::Rows rows = session.run(kRole);
  RolesFound found{.role = std::string(rows.text(0, 0)),
                   .not_owned = rows.int8(0, 1),
                   .not_owned_example = rows.text_or_null(0, 2).value_or(""),
                   .reader_exists = rows.boolean(0, 3)};
  if (!found.reader_exists) return found;
  found.is_reader = found.not_owned > 0 && session.run(kIsReader).boolean(0, 0);
  // A reader does not see the list of its own tables.
  if (found.is_reader) return found;
  const store::Rows reader = session.run(kReader);
  found.reader_lacks = reader.int8(0, 0);
  found.reader_lacks_example = reader.text_or_null(0, 1).value_or("");
  return found;
}

Findings judge_roles(const RolesFound& roles) {
  Findings findings;
  if (roles.not_owned == 0) {
    findings.push_back(ok("role", roles.role + " owns the tables"));
  } else {
    const std::string detail =
        fmt::format("{} does not own {}, such as {}", roles.role, counted(roles.not_owned, "table"),
                    roles.not_owned_example);
    findings.push_back(
        roles.is_reader
            ? warning("role", problem("role-rights"), detail + "; it is a reader",
                      "For `skua run` connect as the owner. Some checks need the owner, too.")
            : error("role", problem("role-rights"), detail));
  }
  if (!roles.reader_exists) {
    findings.push_back(
        warning("reader role", problem("reader-role"), "there is no role skua_reader"));
  } else if (roles.reader_lacks > 0) {
    findings.push_back(
        warning("reader role", problem("reader-role"),
                fmt::format("skua_reader may not read {}, such as {}",
                            counted(roles.reader_lacks, "table"), roles.reader_lacks_example),
                "Run `select skua.grant_reader()` in the database."));
  } else if (!roles.is_reader) {
    findings.push_back(ok("reader role", "skua_reader may read all tables for readers"));
  }
  return findings;
}

}  // namespace skua::doctor
