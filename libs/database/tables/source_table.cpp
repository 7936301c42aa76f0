#include "tables/source_table.hpp"

#include <chrono>

#include "postgres/locks.hpp"
#include "tables/cursor_store.hpp"
#include "tables/source_table.sql.hpp"

namespace skua::tables {

std::vector<StoredSource> read_sources(postgres::Session& session) {
  return session.query<StoredSource>(sql::sources_read);
}

ForgottenSource forget_source(postgres::Session& session, std::string_view source) {
  const postgres::SourceLock lock(session, source);
  ForgottenSource forgotten;
  postgres::Transaction transaction(session);
  forgotten.cursor = load_cursor(session, source);
  const auto before = session.query_one<std::int64_t>(sql::sources_tombstones, source);
  purge_all_tombstones(session, source);
  const auto kept = session.query_one<std::int64_t>(sql::sources_tombstones, source);
  forgotten.tombstones_kept = static_cast<std::size_t>(kept);
  forgotten.tombstones = static_cast<std::size_t>(before - kept);
  const std::size_t rows = session.execute(sql::sources_forget_cursor, source).affected() +
                           session.execute(sql::sources_forget_metrics, source).affected();
  forgotten.is_known = rows > 0 || before > 0;
  transaction.commit();
  return forgotten;
}

}  // namespace skua::tables
