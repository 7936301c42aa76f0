#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumers/leases/lease.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "postgres/session.hpp"
#include "streams/change_filter.hpp"
#include "streams/change_reader.hpp"

namespace skua::streams {

/// Parses the filter of a leased consumer (`skua.consumers.filter`), a JSON object with the lists
/// `collections`, `dids`, `ops`, `kinds` and `topics`. Returns a message for the user if the filter
/// is invalid.
Checked<ChangeFilter> parse_leased_filter(const std::string& json);

/// Parses the filter of a consumer. Stores and logs a malformed filter as the failure of the
/// consumer, and clears this failure when the filter can be read. Throws postgres::SqlError.
Checked<ChangeFilter> read_filter(postgres::Session& session,
                                  const consumers::LeasedConsumer& consumer);
/// A change, as the consumer gets it.
struct SentChange {
  std::int64_t pos = 0;
  /// The position as clients see it, such as `1-4711`, or `west:1-4711` with a node.
  std::string position;
  /// The event in the form of `/changes`.
  std::string json;
};

/// The changes of a lease, in their order. There is at least one change.
struct LeasedBatch {
  consumers::LeaseName lease;
  consumers::Attempt attempt;
  std::vector<SentChange> changes;
};

struct LeasedChanges {
  /// The batch; nothing if there are no changes now, or another owner leases them.
  std::optional<LeasedBatch> batch;
  /// True if there is no batch yet, but the log has more changes to read. The caller should call
  /// again.
  bool has_more = false;
  /// True if a lane without changes for its consumer was read to the end of the log.
  bool is_at_end = false;
};

/// Leases the next changes of a leased consumer that pass its filter. Changes that do not pass are
/// acknowledged. A batch has about a megabyte of records and messages, or a single larger one. One
/// call reads a limited number of changes. The positions name `node`, unless it is empty. Throws
/// postgres::SqlError.
LeasedChanges lease_changes(postgres::Session& session, const consumers::LaneRequest& request,
                            const ChangeFilter& filter, std::string_view node);

/// Counts a batch that was given to a consumer.
void count_batch(FeedMetrics& metrics, const LeasedBatch& batch);

/// Counts the end of a batch. `result` is the result of storing this end.
void count_end(FeedMetrics& metrics, BatchEnd end, consumers::LeaseResult result);

/// Remembers when a thread last lost its connection to the server (LaneRequest::since_failure).
class LostConnections {
 public:
  void note() { last_ = std::chrono::steady_clock::now(); }
  std::optional<std::chrono::milliseconds> since_last() const;

 private:
  std::optional<std::chrono::steady_clock::time_point> last_;
};

/// Returns the changes as a JSON array of events in the form of `/changes`.
std::string changes_json(const LeasedBatch& batch);

}  // namespace skua::streams
