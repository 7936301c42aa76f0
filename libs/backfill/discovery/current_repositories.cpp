#include "backfill/discovery/current_repositories.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "backfill/discovery/current_repositories.sql.hpp"
#include "base/seeded_hash.hpp"

namespace skua::backfill {

std::size_t leave_out_current(store::Session& session, std::vector<NewJob>& jobs) {
  std::vector<const NewJob*> listed;
  for (const NewJob& job : jobs) {
    if (job.listed) listed.push_back(&job);
  }
  if (listed.empty()) return 0;
  boost::unordered_flat_set<std::string, SeededHash> current;
  for (std::string& did :
       session.query<std::string>(sql::repositories_current, store::column(listed, &NewJob::did),
                                  store::column(listed, &NewJob::listed))) {
    current.insert(std::move(did));
  }
  return std::erase_if(jobs, [&](const NewJob& job) { return current.contains(job.did); });
}

}  // namespace skua::backfill
