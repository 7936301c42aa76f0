#include "doctor/roles.hpp"

#include <fmt/format.h>

#include "base/count_text.hpp"

namespace skua::doctor {
namespace {

constexpr const char* kRole =
    "WITH tables AS (SELECT format('%I.%I', n.nspname, c.relname) AS name, "
    "has_table_privilege(c.oid, 'SELECT') AND (n.nspname = 'skua' AND c.relname IN ('migrations', "
    "'schema_files', 'reader_tables') OR has_table_privilege(c.oid, 'INSERT') AND "
    "has_table_privilege(c.oid, "
    "'UPDATE') AND has_table_privilege(c.oid, 'DELETE')) AS is_writable FROM pg_class AS c "
    "JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname IN ('bsky', 'skua') "
    "AND c.relkind IN ('r', 'p') AND NOT pg_has_role(c.relowner, 'USAGE')), "
    "groups AS (SELECT rolname, pg_has_role(oid, 'USAGE') AS is_member FROM pg_roles) "
    "SELECT current_user, count(*), min(name), "
    "coalesce((SELECT is_member FROM groups WHERE rolname = 'skua_reader'), false), "
    "coalesce((SELECT is_member FROM groups WHERE rolname = 'skua_writer'), false), "
    "count(*) FILTER (WHERE NOT is_writable), min(name) FILTER (WHERE NOT is_writable) FROM tables";

constexpr const char* kMayKnow = "SELECT has_table_privilege('skua.reader_tables', 'SELECT')";

constexpr const char* kReader =
    "WITH reader AS (SELECT oid FROM pg_roles WHERE rolname = 'skua_reader'), "
    "lacking AS (SELECT format('%I.%I', n.nspname, c.relname) AS name FROM reader AS r, "
    "pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', "
    "'v') AND (n.nspname = 'bsky' OR n.nspname = 'skua' AND c.relname IN (SELECT name FROM "
    "skua.reader_tables)) AND NOT (has_schema_privilege(r.oid, n.oid, 'USAGE') "
    "AND has_table_privilege(r.oid, c.oid, 'SELECT'))) "
    "SELECT EXISTS (SELECT FROM reader), count(*), min(name) FROM lacking";

}  // namespace

RoleFound read_role(store::Session& session) {
  const store::Rows rows = session.run(kRole);
  return {.name = std::string(rows.text(0, 0)),
          .is_reader = rows.boolean(0, 3),
          .is_writer = rows.boolean(0, 4),
          .not_owned = rows.int8(0, 1),
          .example = rows.text_or_null(0, 2).value_or(""),
          .not_writable = rows.int8(0, 5),
          .example_not_writable = rows.text_or_null(0, 6).value_or("")};
}

Finding judge_role(const RoleFound& role) {
  if (role.not_owned == 0) return ok("role", role.name + " owns the tables of Skua");
  if (role.not_writable == 0) {
    return ok("role", role.name + " may read and write all tables, and does not own them");
  }
  if (role.is_writer) {
    return error("role", problem("role-rights"),
                 fmt::format("{} may not write {}, such as {}", role.name,
                             counted(role.not_writable, "table"), role.example_not_writable),
                 "As the owner run `select skua.grant_writer()` in the database.");
  }
  const std::string detail = fmt::format("{} does not own {}, such as {}", role.name,
                                         counted(role.not_owned, "table"), role.example);
  if (!role.is_reader) return error("role", problem("role-rights"), detail);
  return warning(
      "role", problem("role-rights"), detail + "; it may read",
      "For `skua run` connect as the owner or as a member of skua_writer. Some checks need "
      "the owner, too.");
}

std::optional<ReaderRole> read_reader_role(store::Session& session) {
  if (!session.run(kMayKnow).boolean(0, 0)) return std::nullopt;
  const store::Rows rows = session.run(kReader);
  return ReaderRole{.exists = rows.boolean(0, 0),
                    .lacks = rows.int8(0, 1),
                    .example = rows.text_or_null(0, 2).value_or("")};
}

Findings judge_reader_role(const std::optional<ReaderRole>& reader) {
  constexpr const char* kCheck = "reader role";
  if (!reader) {
    return {skipped(kCheck, "this role may not read which tables are for readers",
                    "Run `skua doctor` as the owner of the tables.")};
  }
  if (!reader->exists) {
    return {warning(kCheck, problem("reader-role"), "there is no role skua_reader")};
  }
  if (reader->lacks == 0) return {ok(kCheck, "skua_reader may read all tables for readers")};
  return {warning(kCheck, problem("reader-role"),
                  fmt::format("skua_reader may not read {}, such as {}",
                              counted(reader->lacks, "table"), reader->example),
                  "Run `select skua.grant_reader()` in the database.")};
}

}  // namespace skua::doctor
