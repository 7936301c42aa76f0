#include "doctor/roles.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "doctor/roles.sql.hpp"

namespace skua::doctor {

RoleFound read_role(postgres::Session& session) {
  return session.query_one<RoleFound>(sql::doctor_role);
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

std::optional<ReaderRole> read_reader_role(postgres::Session& session) {
  if (!session.query_one<bool>(sql::doctor_may_read_reader_tables)) return std::nullopt;
  return session.query_one<ReaderRole>(sql::doctor_reader_role);
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
