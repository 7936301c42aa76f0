#include "feed/leases/held_lease.hpp"

#include <utility>

#include "feed/leases/held_lease.sql.hpp"

namespace skua::feed {
namespace {

/// A row of leases_lock.
struct LeasedLane {
  std::string consumer;
  std::string policy;
  std::int64_t pos;
  std::int64_t end;
  std::int32_t count;
  std::int32_t attempts;
  std::optional<AccountNumber> key;
};

}  // namespace

std::optional<HeldLease> lock_lease(store::Session& session, const LeaseName& lease) {
  auto lane = session.query_first<LeasedLane>(sql::leases_lock, lease.consumer_id, lease.lane,
                                              lease.epoch, lease.owner);
  if (!lane) return std::nullopt;
  HeldLease held{.consumer = std::move(lane->consumer),
                 .policy = std::move(lane->policy),
                 .pos = lane->pos,
                 .end = lane->end,
                 .count = lane->count,
                 .attempts = lane->attempts,
                 .key = lane->key,
                 .waiting = {}};
  if (!held.key) return held;
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
  session.execute(sql::leases_move, lease.consumer_id, lease.lane, next);
}

void release_lease(store::Session& session, const LeaseName& lease) {
  session.execute(sql::leases_release, lease.consumer_id, lease.lane);
}

}  // namespace skua::feed
