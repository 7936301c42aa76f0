#include "feed/consumers/batch_fold.hpp"

#include <string>

#include <fmt/format.h>

#include "feed/consumers/batch_fold.sql.hpp"
#include "feed/projections/projection_tables.hpp"

namespace skua::feed {
namespace {

/// How far the work in the queues of the projection is.
void note_waiting(store::Session& session, const Projection& projection, const Batch& batch) {
  if (projection.waiting_pos.empty()) return;
  session.execute({fmt::format("fold_{}_waiting", batch.consumer_id),
                   fmt::format("UPDATE skua.consumer_lanes SET (waiting_pos, is_paced) = ({}) "
                               "WHERE consumer_id = $1::int4 AND lane = $2::int4",
                               sql_for(projection, batch.consumer_id, projection.waiting_pos))},
                  batch.consumer_id, batch.lane);
}

}  // namespace

void apply_changes(store::Session& session, const Projection& projection, const Batch& batch) {
  std::size_t number = 0;
  for (const std::string& sql : projection.fold) {
    store::Params params;
    params.int8(batch.first).int8(batch.end);
    if (projection.has_lanes) params.int4(batch.lane).int4(batch.lanes);
    session.execute({fmt::format("fold_{}_{}", batch.consumer_id, ++number),
                     sql_for(projection, batch.consumer_id, sql)},
                    params);
  }
}

void fold_batch(store::Session& session, const Projection& projection, const Batch& batch) {
  apply_changes(session, projection, batch);
  advance_lane(session, batch.consumer_id, batch.lane, batch.end);
  note_waiting(session, projection, batch);
}

void drain_queues(store::Session& session, const Projection& projection, const Batch& batch) {
  std::size_t number = 0;
  for (const std::string& sql : projection.drain) {
    session.execute({fmt::format("drain_{}_{}", batch.consumer_id, ++number),
                     sql_for(projection, batch.consumer_id, sql)});
  }
  note_waiting(session, projection, batch);
}

void advance_lane(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  std::int64_t position) {
  session.execute(sql::consumers_advance, consumer_id, lane, position);
}

}  // namespace skua::feed
