#include "store/source_table.hpp"

#include <chrono>

#include "store/cursor_store.hpp"
#include "store/source_lock.hpp"
#include "store/source_table.sql.hpp"

namespace skua::store {

std::vector<StoredSource> read_sources(Session& session) {
  return session.query<StoredSource>(sql::sources_read);
}

ForgottenSource forget_source(Session& session, std::string_view source) {
  const SourceLock lock(session, source);
  ForgottenSource forgotten;
  Transaction transaction(session);
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

}  // namespace skua::store
