#include "backfill/discovery/signal_jobs.hpp"

#include <vector>

#include "backfill/queue/job_table.hpp"

namespace skua::backfill {
namespace {

const store::Statement kWanted{
    "signal_accounts_wanted",
    "SELECT u.did FROM unnest($1::text[]) AS u(did) "
    "WHERE NOT EXISTS (SELECT FROM skua.repositories AS r WHERE r.did = u.did "
    "AND r.state = 'complete') "
    "AND NOT EXISTS (SELECT FROM skua.excluded_accounts AS e WHERE e.did = u.did)"};

}  // namespace

std::size_t queue_signal_accounts(store::Session& session, std::span<const std::string> dids,
                                  Timestamp now) {
  store::Array names(store::Array::Type::text);
  for (const std::string& did : dids) names.text(did);
  store::Params params;
  params.array(names);
  const store::Rows rows = session.execute(kWanted, params);
  std::vector<NewJob> jobs;
  jobs.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    jobs.push_back({.did = std::string(rows.text(i, 0))});
  return add_jobs(session, jobs, Again::No, now);
}

}  // namespace skua::backfill
