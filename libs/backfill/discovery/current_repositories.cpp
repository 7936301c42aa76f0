#include "backfill/discovery/current_repositories.hpp"

#include <cstdint>
#include <string>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/seeded_hash.hpp"
#include "backfill/discovery/current_repositories.sql.hpp"

namespace skua::backfill {
namespace {

}  // namespace

std::size_t leave_out_current(store::Session& session, std::vector<NewJob>& jobs) {
  store::Array dids(store::Array::Type::text);
  store::Array listed(store::Array::Type::int8);
  bool any = false;
  for (const NewJob& job : jobs) {
    if (!job.listed) continue;
    dids.text(job.did);
    listed.int8(static_cast<std::int64_t>(job.listed->value));
    any = true;
  }
  if (!any) return 0;
  store::Params params;
  params.array(dids).array(listed);
  const store::Rows rows = session.execute(sql::repositories_current, params);
  boost::unordered_flat_set<std::string, SeededHash> current;
  for (std::size_t i = 0; i < rows.size(); ++i) current.emplace(rows.text(i, 0));
  return std::erase_if(jobs, [&](const NewJob& job) { return current.contains(job.did); });
}

}  // namespace skua::backfill
