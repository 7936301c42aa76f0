#pragma once

#include <cstdint>
#include <string>

#include "feed/projections/projection.hpp"
#include "store/session.hpp"

namespace skua::feed {

/// Changes that a lane of a projection applies in one transaction.
struct Batch {
  std::int32_t consumer_id = 0;
  std::string name;
  std::int32_t lane = 0;
  std::int32_t lanes = 0;
  std::int64_t first = 0;
  /// The position after the last change.
  std::int64_t end = 0;
};

/// Applies the changes to the tables. Throws store::SqlError, as all here.
void apply_changes(store::Session& session, const Projection& projection, const Batch& batch);

/// Applies the changes to the tables and moves the position of the lane to `batch.end`. The
/// transaction of the caller has locked the lane.
void fold_batch(store::Session& session, const Projection& projection, const Batch& batch);

/// Does a part of the work that waits in the queues of the projection. The transaction of the
/// caller has locked the lane. The lane keeps its position, and its failures.
void drain_queues(store::Session& session, const Projection& projection, const Batch& batch);

/// Moves the position of a lane, and forgets its failures.
void advance_lane(store::Session& session, std::int32_t consumer_id, std::int32_t lane,
                  std::int64_t position);

}  // namespace skua::feed
