#include "backfill/discovery/signal_jobs.hpp"

#include <vector>

#include "backfill/discovery/signal_jobs.sql.hpp"
#include "backfill/queue/job_table.hpp"

namespace skua::backfill {

std::size_t queue_signal_accounts(store::Session& session, std::span<const std::string> dids,
                                  Timestamp now) {
  std::vector<NewJob> jobs;
  for (std::string& did : session.query<std::string>(sql::signal_accounts_wanted, dids)) {
    jobs.push_back({.did = std::move(did)});
  }
  return add_jobs(session, jobs, Again::No, now);
}

}  // namespace skua::backfill
