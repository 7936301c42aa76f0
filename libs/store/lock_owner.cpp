#include "store/lock_owner.hpp"

#include <fmt/format.h>

namespace skua::store {
namespace {

// pg_locks splits the number of an advisory lock into two halves. objsubid 1 means one 64-bit
// number, 2 means two 32-bit numbers.
Statement owner_statement(const char* name, const std::string& which) {
  return {name,
          "SELECT l.pid, a.application_name, a.client_addr::text, to_char(a.backend_start, "
          "'YYYY-MM-DD HH24:MI:SS') "
          "FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid "
          "WHERE l.locktype = 'advisory' AND l.granted "
          "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
          "AND " +
              which};
}

const Statement kRecordOwner = owner_statement(
    "lock_record_owner", "l.objsubid = 1 AND (l.classid::int8 << 32 | l.objid::int8) = $1::int8");
const Statement kNamedOwner =
    owner_statement("lock_named_owner",
                    "l.objsubid = 2 AND l.classid::int8 = $1::int8 AND l.objid::int8 = $2::int8");

std::optional<std::string> text_of(const Rows& rows) {
  if (rows.empty()) return std::nullopt;
  std::string name = "another user's session";
  if (!rows.is_null(0, 1)) name = "'" + std::string(rows.text(0, 1)) + "'";
  std::string text = fmt::format("{} (server process {}", name, rows.text(0, 0));
  if (!rows.is_null(0, 2)) text += fmt::format(", from {}", rows.text(0, 2));
  if (!rows.is_null(0, 3)) text += fmt::format(", since {} UTC", rows.text(0, 3));
  return text + ")";
}

}  // namespace

std::optional<std::string> lock_owner(Session& session, RecordLockKey key) {
  return text_of(session.execute(kRecordOwner, Params().int8(key.key)));
}

std::optional<std::string> lock_owner(Session& session, NamedLockKey key) {
  return text_of(session.execute(kNamedOwner, Params().int8(key.space).int8(key.key)));
}

}  // namespace skua::store
