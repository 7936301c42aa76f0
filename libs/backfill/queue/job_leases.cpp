#include "backfill/queue/job_leases.hpp"

#include <utility>

#include "backfill/queue/job_leases.sql.hpp"

namespace skua::backfill {
namespace {

using store::Session;
using store::Statement;

/// `place`: the parameters of the place, from $5 on.
template <class... Place>
std::vector<Job> lease(Session& session, const Statement& of_all, const Statement& of_some,
                       std::size_t limit, const LeaseRequest& request, const Place&... place) {
  const Timestamp end = request.now + request.duration;
  if (request.only.empty()) {
    return session.query<Job>(of_all, request.now, end, request.owner, limit, place...);
  }
  return session.query<Job>(of_some, request.now, end, request.owner, limit, place...,
                            request.only);
}

}  // namespace

std::vector<Job> lease_jobs(Session& session, const Place& place, std::size_t limit,
                            const LeaseRequest& request) {
  switch (place.kind) {
    case Place::Kind::Host:
      return lease(session, sql::backfill_jobs_lease_host, sql::backfill_jobs_lease_host_of, limit,
                   request, place.host);
    case Place::Kind::Unknown:
      return lease(session, sql::backfill_jobs_lease_unknown, sql::backfill_jobs_lease_unknown_of,
                   limit, request);
    case Place::Kind::File:
      return lease(session, sql::backfill_jobs_lease_file, sql::backfill_jobs_lease_file_of, limit,
                   request);
  }
  return {};
}

std::size_t renew_leases(Session& session, const LeaseRequest& request) {
  return session
      .execute(sql::backfill_jobs_renew, request.owner, request.now, request.now + request.duration)
      .affected();
}

std::size_t release_jobs(Session& session, const std::string& lease_owner) {
  return session.execute(sql::backfill_jobs_release, lease_owner).affected();
}

std::size_t reclaim_expired_jobs(Session& session, Timestamp now, int most_lost) {
  return session.execute(sql::backfill_jobs_reclaim_expired, now, most_lost).affected();
}

std::size_t reclaim_orphan_jobs(Session& session, Timestamp now, int most_lost) {
  return session.execute(sql::backfill_jobs_reclaim_orphans, now, most_lost).affected();
}

}  // namespace skua::backfill
