#include "backfill/discovery/signal_jobs.hpp"

#include <vector>

#include "backfill/queue/job_table.hpp"
#include "backfill/discovery/signal_jobs.sql.hpp"

namespace skua::backfill {
namespace {

}  // namespace

std::size_t queue_signal_accounts(store::Session& session, std::span<const std::string> dids,
                                  Timestamp now) {
  store::Array names(store::Array::Type::text);
  for (const std::string& did : dids) names.text(did);
  store::Params params;
  params.array(names);
  const store::Rows rows = session.execute(sql::signal_accounts_wanted, params);
  std::vector<NewJob> jobs;
  jobs.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    jobs.push_back({.did = std::string(rows.text(i, 0))});
  return add_jobs(session, jobs, Again::No, now);
}

}  // namespace skua::backfill
