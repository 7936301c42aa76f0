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
#include "consumers/letter_event.hpp"
#include "consumers/projections/projection.hpp"
#include "postgres/session.hpp"
#include "postgres/sql_error.hpp"

namespace skua::consumers {

/// Says how dependent projections learn that the tables of a projection were exchanged or removed.
enum class Publication : std::uint8_t {
  /// The differences between the former tables and the next ones are appended to the log.
  Differences,
  /// The former tables cannot be read: dependent projections are rebuilt.
  Rebuild,
};

/// Runs a transaction with `Differences`. If it fails with an error that broken tables can cause,
/// runs it a second time with `Rebuild`. Throws postgres::SqlError.
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

/// A name, profile, override or state does not allow the request. The message is for the user.
class ConsumerError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A consumer that should continue has not stopped, and none of its lanes is blocked.
class NotStopped : public ConsumerError {
  using ConsumerError::ConsumerError;
};

/// There is no projection of the name: neither a built-in one nor one that a user added.
class UnknownProjection : public ConsumerError {
  using ConsumerError::ConsumerError;
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

// All functions below throw ConsumerError and postgres::SqlError.

/// Checks that the number of lanes is a power of two up to 64.
void check_lanes(std::int16_t lanes);
void check_profile(const std::string& profile);
/// Checks that consumers of this kind have these overrides, a JSON object.
void check_overrides(std::string_view kind, const std::string& overrides);
void require_consumer(postgres::Session& session, const std::string& name);
void refuse_consumer(postgres::Session& session, const std::string& name);

struct ConsumerLane {
  std::int16_t lane = 0;
  std::int64_t pos = 0;
  /// All work of the changes before this position is done. The position is smaller than `pos` while
  /// work of earlier changes waits in a queue of the projection.
  std::int64_t done_pos = 0;
  std::int32_t attempts = 0;
  /// Empty if the last batch succeeded.
  std::string error;
  /// True if a change failed too often and the policy is block_lane.
  bool is_blocked = false;
  /// The number of accounts whose changes wait behind a dead letter.
  std::int64_t waiting_accounts = 0;
  /// The time until the next attempt after a failure; nothing if no attempt is pending.
  std::optional<std::chrono::milliseconds> retry_in = std::nullopt;
  /// These four fields describe the failures since the last successful batch: the time of the first
  /// failure, its age by the server's clock, the number of failures, and what the last failure
  /// concerns. Nothing if the last batch succeeded.
  std::optional<Timestamp> failing_since = std::nullopt;
  std::chrono::milliseconds failing_for{0};
  std::int32_t failures = 0;
  FailureCause cause = FailureCause::Change;
  /// True if a process or program has a lease that has not ended.
  bool is_leased = false;
  /// The beginning of the owner's name, for people; empty if the lane is not leased. The whole name
  /// permits to end the lease.
  std::string lease_owner = {};
  /// The end of the lease, by the server's clock, and the time until then, which is negative after
  /// the end.
  std::optional<Timestamp> lease_until = std::nullopt;
  std::optional<std::chrono::milliseconds> lease_ends_in = std::nullopt;
  /// True if a lease ended a minute ago or earlier, and the lane has not been leased since.
  bool is_abandoned = false;
  /// The number of leases that ended without an answer and counted as a failure.
  std::int64_t lease_expiries = 0;
  /// The number of changes from the oldest one whose work is not done.
  std::int64_t behind = 0;
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
  std::string overrides = "{}";
  /// A JSON object; only a leased consumer has a filter.
  std::string filter = "{}";
  /// The origin of a webhook's address. The rest of the address may contain a secret.
  std::string url;
  std::string error;
  std::vector<ConsumerLane> lanes;
  /// The lag of the slowest lane: the number of changes from the oldest unfinished one on, and the
  /// age of that change. A change is unfinished until the lane has read it and its work has left
  /// the queues. Nothing if the consumer has no lanes.
  std::optional<std::int64_t> behind;
  std::optional<std::chrono::milliseconds> lag;
  /// True if a process that builds and applies projections (`skua run`), or that delivers changes
  /// (`skua serve`), is connected to the database.
  bool is_served = true;
  /// True if the indexes of a bootstrap are missing. No consumer reads changes then.
  bool waits_for_bootstrap = false;
  /// True if another consumer of this name is being built and will replace this one.
  bool has_successor = false;
  /// The time since the consumer was added, or since its rebuild was requested.
  std::chrono::milliseconds age{0};
  /// The number of its dead letters that nobody has handled.
  std::int64_t letters = 0;
  /// Of a retired consumer whose tables cannot be dropped: the statements that drop what reads
  /// them, separated by "; ".
  std::string dependents = {};
  /// These three describe a projection that a user added: its help, true, and the newest stored
  /// version.
  std::string help;
  bool is_own = false;
  std::int32_t newest_version = 0;
};

struct NewConsumer {
  std::string name;
  /// The number of lanes, a power of two up to 64; one if it is nothing.
  std::optional<std::int16_t> lanes = std::nullopt;
  std::string policy = "pause";
  std::string profile = "default";
  /// A JSON object with the form that Tuning describes.
  std::string overrides = "{}";
};

/// Throws ConsumerError for values that no database allows. Pure.
void check_new(const NewConsumer& consumer);

// All functions below throw ConsumerError and postgres::SqlError. Each runs one transaction.

/// Adds a projection. Its tables are first built from the records, and then follow the change log.
void add_consumer(postgres::Session& session, const NewConsumer& consumer);

/// Removes a consumer. The views of a projection are empty at once; the upkeep drops its tables
/// later.
void remove_consumer(postgres::Session& session, const std::string& name);

/// Pauses a consumer. A paused consumer reads no changes, and its tables stay readable.
void pause_consumer(postgres::Session& session, const std::string& name);

/// Continues a paused consumer. A consumer that waits after a failure, and upkeep that failed, are
/// tried again at once.
void resume_consumer(postgres::Session& session, const std::string& name);

/// Builds the tables of a projection a second time, beside the present tables, and then replaces
/// the present tables. A consumer that stopped or lagged out needs a rebuild. No effect while a
/// rebuild is under way.
void rebuild_consumer(postgres::Session& session, const std::string& name);

/// Requests a rebuild of this projection's consumer, with its newest version, in the caller's
/// transaction.
void request_rebuild(postgres::Session& session, const std::string& name);

/// Requests a rebuild of each live projection that depends on this one (Projection::depends_on), in
/// the caller's transaction.
void rebuild_dependents(postgres::Session& session, const Projection& projection);

/// Continues a stopped consumer and its blocked lanes at the changes that failed. Throws
/// NotStopped.
void reset_consumer(postgres::Session& session, const std::string& name);

/// Continues a stopped consumer, or a blocked lane, after the change at `position`, which becomes a
/// dead letter. Other blocked lanes stay blocked. Refuses a position at which no change failed too
/// often, for example because another person has reset the consumer and another change has failed.
/// The dead letter keeps the event that `read_event` returns.
void skip_change(postgres::Session& session, const std::string& name, std::int64_t position,
                 const ReadLetterEvent& read_event = nullptr);

/// Sets the state of a consumer, and the error that led to it, in the caller's transaction.
void set_consumer_state(postgres::Session& session, std::int32_t consumer_id,
                        const std::string& state, const std::string& error);

/// Returns all consumers, sorted by name. During a rebuild the live consumer precedes the next one.
std::vector<Consumer> read_consumers(postgres::Session& session);

/// Returns what people see: these consumers, and then the retired ones whose tables cannot be
/// dropped. Of the latter the other functions know nothing.
std::vector<Consumer> read_all_consumers(postgres::Session& session);

}  // namespace skua::consumers
