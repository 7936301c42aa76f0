#include "feed/leases/take_lease.hpp"

#include <algorithm>

#include "feed/consumers/tuned_query.hpp"
#include "feed/leases/held_lease.hpp"
#include "feed/leases/take_lease.sql.hpp"
#include "feed/leases/waiting_changes.hpp"

namespace skua::feed {
namespace {

/// A row of leases_choose.
struct LeasableLane {
  std::int32_t lane;
  std::int32_t lanes;
  std::int64_t epoch;
  std::int64_t pos;
  std::int64_t log_end;
  /// The changes of the lane itself are due.
  bool is_due;
  std::int32_t batch;
  // Of the waiting changes that are due; null if there are none.
  std::optional<AccountNumber> waiting_key;
  std::optional<std::int64_t> waiting_pos;
  std::int64_t waiting_end;
  std::int32_t waiting_batch;
  std::optional<bool> waits_longer;
};

}  // namespace

std::optional<Lease> take_lease(store::Session& session, const LaneRequest& request) {
  store::Transaction transaction(session);
  open_waiting_changes(session, request.consumer_id);
  const auto due = store::rows_of<LeasableLane>(
      execute_tuned(session, sql::leases_choose, request.consumer_id, request.ignores_pause));
  if (due.empty()) {
    transaction.commit();
    return std::nullopt;
  }
  const LeasableLane& lane = due[0];
  Lease lease;
  lease.name = {request.consumer_id, lane.lane, lane.epoch, request.owner};
  lease.lanes = lane.lanes;
  if (lane.waiting_pos && (!lane.is_due || lane.waits_longer.value_or(false))) {
    lease.key = lane.waiting_key;
    lease.pos = *lane.waiting_pos;
    lease.end = lane.waiting_end;
    lease.batch = lane.waiting_batch;
  } else {
    lease.pos = lane.pos;
    lease.end = lane.log_end;
    lease.batch = lane.batch;
    lease.waiting_keys = read_waiting_keys(session, request.consumer_id, lease.name.lane);
  }
  if (request.most > 0) lease.batch = std::min(lease.batch, request.most);
  session.execute(sql::leases_take, request.consumer_id, lease.name.lane, lease.name.epoch,
                  request.owner, request.duration, lease.key, lease.pos);
  transaction.commit();
  return lease;
}

bool note_batch(store::Session& session, const LeaseName& lease, std::int64_t first,
                std::int64_t end, std::int32_t count) {
  store::Transaction transaction(session);
  const auto held = lock_lease(session, lease);
  if (!held) return false;
  if (count > 0 && first > held->pos) advance_lease(session, lease, *held, first);
  session.execute(sql::leases_note_batch, lease.consumer_id, lease.lane, end, count);
  transaction.commit();
  return true;
}

}  // namespace skua::feed
