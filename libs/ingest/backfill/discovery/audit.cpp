#include "backfill/discovery/audit.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "atproto/account_group.hpp"
#include "backfill/discovery/audit.sql.hpp"
#include "backfill/queue/job_table.hpp"
#include "base/seeded_hash.hpp"
#include "tables/account_groups.hpp"

namespace skua::backfill {

std::size_t leave_out_current(postgres::Session& session, std::vector<NewJob>& jobs) {
  std::vector<const NewJob*> listed;
  for (const NewJob& job : jobs) {
    if (job.listed) listed.push_back(&job);
  }
  if (listed.empty()) return 0;
  boost::unordered_flat_set<std::string, SeededHash> current;
  for (std::string& did :
       session.query<std::string>(sql::repositories_current, postgres::column(listed, &NewJob::did),
                                  postgres::column(listed, &NewJob::listed))) {
    current.insert(std::move(did));
  }
  return std::erase_if(jobs, [&](const NewJob& job) { return current.contains(job.did); });
}

std::size_t leave_out_foreign(postgres::Session& session, std::vector<NewJob>& jobs) {
  const atproto::GroupSet owned = tables::load_account_groups(session).owned;
  return std::erase_if(jobs, [&](const NewJob& job) { return !owned.has_account(job.did); });
}

void begin_audit(postgres::Session& session, const AuditOptions& options, Timestamp now) {
  session.execute(sql::audit_first, options.relay, now);
  session.execute(sql::audit_begin, options.relay, now, options.every,
                  options.with_filtered_accounts);
}

std::size_t desynchronize_behind(postgres::Session& session, const std::string& host,
                                 std::span<const ListedRepo> repos,
                                 std::span<const std::string> sources, Timestamp now) {
  const auto rev = [](const ListedRepo& repo) {
    return repo.rev && repo.rev->fits_int8() ? repo.rev : std::nullopt;
  };
  return session
      .execute(sql::audit_behind, postgres::column(repos, &ListedRepo::did),
               postgres::column(repos, rev), host, sources, now)
      .affected();
}

std::size_t queue_signal_accounts(postgres::Session& session, std::span<const std::string> dids,
                                  Timestamp now) {
  std::vector<NewJob> jobs;
  for (std::string& did : session.query<std::string>(sql::signal_accounts_wanted, dids)) {
    jobs.push_back({.did = std::move(did)});
  }
  return add_jobs(session, jobs, Again::No, now);
}

}  // namespace skua::backfill
