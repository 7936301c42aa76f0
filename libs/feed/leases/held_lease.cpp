#include "feed/leases/held_lease.hpp"

#include "feed/consumers/lane_outcome_sql.hpp"
#include "feed/leases/held_lease.sql.hpp"

namespace skua::feed {
namespace {

using store::Statement;

const Statement kMoveLane{
    "leases_move",
    std::string("UPDATE skua.consumer_lanes SET pos = $3::int8, served_at = clock_timestamp(), "
                "batch = CASE WHEN batch < 1000000 THEN batch * 2 END, ") +
        kLaneSucceeded + " WHERE consumer_id = $1::int4 AND lane = $2::int4"};

store::Params lane_of(const LeaseName& lease) {
  store::Params params;
  params.int4(lease.consumer_id).int4(lease.lane);
  return params;
}

}  // namespace

std::optional<HeldLease> lock_lease(store::Session& session, const LeaseName& lease) {
  store::Params params = lane_of(lease);
  params.int8(lease.epoch).text(lease.owner);
  const store::Rows rows = session.execute(sql::leases_lock, params);
  if (rows.empty()) return std::nullopt;
  HeldLease held{.consumer = std::string(rows.text(0, 0)),
                 .policy = std::string(rows.text(0, 1)),
                 .pos = rows.int8(0, 2),
                 .end = rows.int8(0, 3),
                 .count = rows.int4(0, 4),
                 .attempts = rows.int4(0, 5),
                 .key = std::nullopt,
                 .waiting = {}};
  if (rows.is_null(0, 6)) return held;
  held.key = rows.int4(0, 6);
  held.waiting = read_waiting_changes(session, lease.consumer_id, lease.lane, *held.key);
  held.pos = held.waiting.pos;
  held.attempts = held.waiting.attempts;
  return held;
}

void advance_lease(store::Session& session, const LeaseName& lease, const HeldLease& held,
                   std::int64_t next) {
  if (held.key) {
    advance_waiting(session, lease.consumer_id, lease.lane, *held.key, held.waiting, next);
    return;
  }
  store::Params params = lane_of(lease);
  params.int8(next);
  session.execute(kMoveLane, params);
}

void release_lease(store::Session& session, const LeaseName& lease) {
  session.execute(sql::leases_release, lane_of(lease));
}

}  // namespace skua::feed
