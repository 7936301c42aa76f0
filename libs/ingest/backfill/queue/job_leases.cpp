#include "backfill/queue/job_leases.hpp"

#include <utility>

#include "backfill/queue/job_leases.sql.hpp"

namespace skua::backfill {

namespace {

using postgres::Session;
using postgres::Statement;

/// `place` has the parameters of the place, from $5 on.
template <class... Place>
std::vector<Job> lease(Session& session, const Statement& of_all, const Statement& of_some,
                       std::size_t limit, const JobLeaseRequest& request, const Place&... place) {
  const Timestamp end = request.now + request.duration;
  if (request.only.empty()) {
    return session.query<Job>(of_all, request.now, end, request.owner, limit, place...);
  }
  return session.query<Job>(of_some, request.now, end, request.owner, limit, place...,
                            request.only);
}

}  // namespace

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

std::vector<Job> lease_jobs(Session& session, const Place& place, std::size_t limit,
                            const JobLeaseRequest& request) {
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

std::size_t renew_leases(Session& session, const JobLeaseRequest& request) {
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
