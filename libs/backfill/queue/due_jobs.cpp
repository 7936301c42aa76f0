#include "backfill/queue/due_jobs.hpp"

#include "backfill/queue/due_jobs.sql.hpp"

namespace skua::backfill {

using store::Session;

std::vector<std::string> due_hosts(Session& session, Timestamp now, std::size_t limit,
                                   const std::string& after) {
  return session.query<std::string>(sql::backfill_jobs_due_hosts, after, now, limit);
}

std::vector<std::string> due_hosts_of(Session& session, std::span<const std::string> dids,
                                      Timestamp now) {
  return session.query<std::string>(sql::backfill_jobs_due_hosts_of, dids, now);
}

std::optional<Timestamp> next_due(Session& session) {
  return session.query_one<std::optional<Timestamp>>(sql::backfill_jobs_next_due, "");
}

bool jobs_remain(Session& session) {
  return session.query_one<bool>(sql::backfill_jobs_remain);
}

bool jobs_remain_of(Session& session, std::span<const std::string> dids) {
  return session.query_one<bool>(sql::backfill_jobs_remain_of, dids);
}

std::vector<std::string> running_jobs(Session& session, std::span<const std::string> dids) {
  return session.query<std::string>(sql::backfill_jobs_running, dids);
}

}  // namespace skua::backfill
