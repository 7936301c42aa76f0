#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "consumers/leases/lease.hpp"
#include "postgres/session.hpp"
#include "streams/change_event.hpp"
#include "streams/change_filter.hpp"
#include "streams/change_reader.hpp"

namespace skua::streams {

/// The filter of a leased consumer, as in `skua.consumers.filter`: a JSON object with the lists
/// `collections`, `dids`, `ops` and `kinds`, or a message for the user.
Checked<ChangeFilter> parse_leased_filter(const std::string& json);

/// The changes of a lease, in their order. There is at least one.
struct LeasedBatch {
  consumers::LeaseName lease;
  std::vector<std::shared_ptr<const ChangeEvent>> events;
};

struct LeasedChanges {
  /// Nothing: there are no changes now, or they are leased.
  std::optional<LeasedBatch> batch;
  /// There is no batch yet, but changes that were not looked at: call again.
  bool has_more = false;
};

/// Leases the next changes of a leased consumer that pass its filter. Changes that do not pass are
/// acknowledged. A batch has about `max_bytes` of records, or one record that is larger. One call
/// looks at a limited number of changes. Throws postgres::SqlError.
LeasedChanges lease_changes(postgres::Session& session, const consumers::LaneRequest& request,
                            const ChangeFilter& filter,
                            std::size_t max_bytes = std::size_t{1024} * 1024);

/// Counts a batch that a consumer gets.
void count_batch(FeedMetrics& metrics, const LeasedBatch& batch);

/// Counts the end of a batch. `result`: of storing it.
void count_end(FeedMetrics& metrics, BatchEnd end, consumers::LeaseResult result);

/// The changes as a JSON array of events, as in `/changes`.
std::string changes_json(const LeasedBatch& batch);

}  // namespace skua::streams
