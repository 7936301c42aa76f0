#include "feed/leases/take_lease.hpp"

#include <algorithm>

#include "feed/consumers/tuning_sql.hpp"
#include "feed/leases/held_lease.hpp"
#include "feed/leases/waiting_changes.hpp"
#include "feed/leases/take_lease.sql.hpp"

namespace skua::feed {
namespace {

using store::Statement;

// w: the oldest waiting changes of an account that are due. An account has one batch at a time, so
// its oldest ones come first.
const Statement kChooseLane{
    "leases_choose",
    std::string(
        "SELECT l.lane, c.lanes, l.epoch + 1, l.pos, e.log_end, d.is_due, "
        "least(coalesce(l.batch, p.batch), p.batch), w.actor_id, w.pos, coalesce(w.until, l.pos), "
        "least(coalesce(w.batch, p.batch), p.batch), w.served_at <= l.served_at "
        "FROM (SELECT skua.change_log_end() AS log_end WHERE NOT EXISTS (SELECT FROM "
        "skua.dropped_indexes)) AS e CROSS JOIN skua.consumers AS c "
        "JOIN skua.consumer_lanes AS l ON l.consumer_id = c.id ") +
        kTuningJoin +
        "CROSS JOIN LATERAL (SELECT l.pos < e.log_end AND (l.retry_at IS NULL OR l.retry_at <= "
        "clock_timestamp()) AND ($8::boolean OR l.served_at + p.pause * interval '1 millisecond' "
        "<= clock_timestamp() OR e.log_end - l.pos >= p.batch) AS is_due) AS d "
        "LEFT JOIN LATERAL (SELECT v.* FROM skua.waiting_changes AS v WHERE v.consumer_id = c.id "
        "AND v.lane = l.lane AND v.is_open AND (v.retry_at IS NULL OR v.retry_at <= "
        "clock_timestamp()) AND NOT EXISTS (SELECT FROM skua.waiting_changes AS o WHERE "
        "o.consumer_id = c.id AND o.lane = l.lane AND o.actor_id = v.actor_id AND o.pos < v.pos) "
        "ORDER BY v.served_at LIMIT 1) AS w ON true "
        "WHERE c.id = $7::int4 AND c.kind <> 'projection' AND c.state = 'running' "
        "AND c.role = 'live' AND NOT c.paused AND NOT l.is_blocked "
        "AND (l.lease_until IS NULL OR l.lease_until <= clock_timestamp()) "
        "AND (d.is_due OR w.pos IS NOT NULL) "
        "ORDER BY l.served_at LIMIT 1 FOR UPDATE OF l SKIP LOCKED"};

}  // namespace

std::optional<Lease> take_lease(store::Session& session, const LeaseRequest& request) {
  store::Transaction transaction(session);
  open_waiting_changes(session, request.consumer_id);
  store::Params params;
  add_profiles(params);
  params.int4(request.consumer_id).boolean(request.ignores_pause);
  const store::Rows rows = session.execute(kChooseLane, params);
  if (rows.empty()) {
    transaction.commit();
    return std::nullopt;
  }
  Lease lease;
  lease.name = {request.consumer_id, rows.int4(0, 0), rows.int8(0, 2), request.owner};
  lease.lanes = rows.int4(0, 1);
  const bool takes_waiting = !rows.is_null(0, 7) && (!rows.boolean(0, 5) || rows.boolean(0, 11));
  if (takes_waiting) {
    lease.key = rows.int4(0, 7);
    lease.pos = rows.int8(0, 8);
    lease.end = rows.int8(0, 9);
    lease.batch = rows.int4(0, 10);
  } else {
    lease.pos = rows.int8(0, 3);
    lease.end = rows.int8(0, 4);
    lease.batch = rows.int4(0, 6);
    lease.waiting_keys = read_waiting_keys(session, request.consumer_id, lease.name.lane);
  }
  if (request.most > 0) lease.batch = std::min(lease.batch, request.most);
  store::Params taken;
  taken.int4(request.consumer_id).int4(lease.name.lane).int8(lease.name.epoch);
  taken.text(request.owner).int8(request.duration.count());
  if (lease.key) {
    taken.int4(*lease.key);
  } else {
    taken.null();
  }
  taken.int8(lease.pos);
  session.execute(sql::leases_take, taken);
  transaction.commit();
  return lease;
}

bool note_batch(store::Session& session, const LeaseName& lease, std::int64_t first,
                std::int64_t end, std::int32_t count) {
  store::Transaction transaction(session);
  const auto held = lock_lease(session, lease);
  if (!held) return false;
  if (count > 0 && first > held->pos) advance_lease(session, lease, *held, first);
  store::Params params;
  params.int4(lease.consumer_id).int4(lease.lane).int8(end).int4(count);
  session.execute(sql::leases_note_batch, params);
  transaction.commit();
  return true;
}

}  // namespace skua::feed
