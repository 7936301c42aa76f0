#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "consumers/fold_step.hpp"
#include "consumers/leases/lease.hpp"
#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"
#include "postgres/sql_error.hpp"

namespace skua::consumers {

/// How dependent projections learn that the tables of a projection are exchanged or removed.
enum class Publication : std::uint8_t {
  /// The differences between the former tables and the next ones are appended to the log.
  Differences,
  /// The former tables cannot be read: dependent projections are rebuilt.
  Rebuild,
};

/// Runs a transaction with `Differences`, and after a failure that broken tables can cause once
/// more with `Rebuild`. Throws postgres::SqlError.
template <class Transaction>
auto with_publication(Transaction&& transaction) {
  try {
    return transaction(Publication::Differences);
  } catch (const postgres::SqlError& error) {
    const FailedWork failed = failed_work(error);
    if (failed == FailedWork::Server || failed == FailedWork::Lock) throw;
  }
  return transaction(Publication::Rebuild);
}

/// A name, profile, override or state that does not allow the request. The message tells the user.
class ConsumerError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A transaction of a command about consumers. One such command runs at a time. The constructor
/// throws postgres::SqlError.
class ConsumerChange {
 public:
  explicit ConsumerChange(postgres::Session& session);
  void commit() { transaction_.commit(); }

 private:
  postgres::Transaction transaction_;
};

// All throw ConsumerError, and postgres::SqlError.

/// A power of two up to 64.
void check_lanes(std::int16_t lanes);
void check_profile(const std::string& profile);
void require_consumer(postgres::Session& session, const std::string& name);
void refuse_consumer(postgres::Session& session, const std::string& name);

struct ConsumerLane {
  std::int16_t lane = 0;
  std::int64_t pos = 0;
  /// All work of the changes before it is done: it is smaller than `pos` while work of earlier
  /// changes waits in a queue of the projection.
  std::int64_t done_pos = 0;
  std::int32_t attempts = 0;
  /// Empty: the last batch did not fail.
  std::string error;
  /// A change failed too often, and the policy is block_lane.
  bool is_blocked = false;
  /// Accounts whose changes wait behind a dead letter.
  std::int64_t waiting_accounts = 0;
  /// Until the next attempt after a failure; nothing: none waits.
  std::optional<std::chrono::milliseconds> retry_in = std::nullopt;
  /// Of the failures since the last batch that succeeded: the time of the first, how long ago that
  /// is by the server's clock, their number, and what the last one concerns. Nothing: the last
  /// batch succeeded.
  std::optional<Timestamp> failing_since = std::nullopt;
  std::chrono::milliseconds failing_for{0};
  std::int32_t failures = 0;
  FailureCause cause = FailureCause::Change;
  /// A process or program has a lease that has not ended.
  bool is_leased = false;
  /// A lease ended a minute ago or earlier, and nobody has taken the lane since.
  bool is_abandoned = false;
};

/// A row of `skua.consumers` with its lanes.
struct Consumer {
  std::int32_t id = 0;
  std::string name;
  std::string kind;
  std::int32_t version = 0;
  std::string role;
  std::string state;
  bool paused = false;
  std::string policy;
  std::string profile;
  /// JSON.
  std::string overrides;
  /// JSON. Of a leased consumer.
  std::string filter;
  /// Of a webhook: the origin of its address, because the rest may contain a secret.
  std::string url;
  std::string error;
  std::vector<ConsumerLane> lanes;
  /// Of its slowest lane: the changes from the oldest one on that it has not read, or whose work
  /// waits in a queue, and the age of that one. Nothing while it has no lanes.
  std::optional<std::int64_t> behind;
  std::optional<std::chrono::milliseconds> lag;
  /// A process is connected to the database that builds and applies projections (`skua run`), or
  /// that delivers changes (`skua serve`).
  bool is_served = true;
  /// The indexes of a bootstrap are missing: no consumer reads changes.
  bool waits_for_bootstrap = false;
  /// Another consumer of this name is built, and will replace this one.
  bool has_successor = false;
  /// Since it was added, or its rebuild was requested.
  std::chrono::milliseconds age{0};
};

struct NewConsumer {
  std::string name;
  /// A power of two up to 64; nothing: one.
  std::optional<std::int16_t> lanes = std::nullopt;
  std::string policy = "pause";
  std::string profile = "default";
  /// JSON object: see Tuning.
  std::string overrides = "{}";
};

/// Throws ConsumerError for values that no database allows. Pure.
void check_new(const NewConsumer& consumer);

// All throw ConsumerError and postgres::SqlError. Each is one transaction.

/// Adds a projection: its tables are built from the records, and then follow the change log.
void add_consumer(postgres::Session& session, const NewConsumer& consumer);

/// Removes a consumer. The views of a projection have no rows any more, and its tables are dropped
/// soon.
void remove_consumer(postgres::Session& session, const std::string& name);

/// A paused consumer reads no more changes. Its tables stay readable.
void pause_consumer(postgres::Session& session, const std::string& name, bool paused);

/// Builds the tables of a projection a second time, beside the present ones, and then replaces
/// these. A consumer that stopped or lagged out needs it. No effect while a rebuild is under way.
void rebuild_consumer(postgres::Session& session, const std::string& name);

/// The same in the transaction of the caller, for a consumer of this projection.
void request_rebuild(postgres::Session& session, const Projection& projection);

/// The same for the live projections that depend on this one (Projection::depends_on).
void rebuild_dependents(postgres::Session& session, const Projection& projection);

/// Continues a consumer, or its blocked lanes, at the change that failed too often, or after it. A
/// skipped change is a dead letter.
enum class AfterStop : std::uint8_t { Retry, Skip };
void reset_consumer(postgres::Session& session, const std::string& name, AfterStop after);

/// In the transaction of the caller: the state, and the error that led to it.
void set_consumer_state(postgres::Session& session, std::int32_t consumer_id,
                        const std::string& state, const std::string& error);

/// All consumers by name; during a rebuild the live one first.
std::vector<Consumer> read_consumers(postgres::Session& session);

}  // namespace skua::consumers
