#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "feed/projections/projection.hpp"
#include "store/session.hpp"

namespace skua::feed {

/// A name, profile, override or state that does not allow the request. The message tells the user.
class ConsumerError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct ConsumerLane {
  std::int16_t lane = 0;
  std::int64_t pos = 0;
  std::int32_t attempts = 0;
  /// Empty: the last batch did not fail.
  std::string error;
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
  std::string error;
  std::vector<ConsumerLane> lanes;
  /// Of its slowest lane: the changes that it has not read, and the age of the oldest of them.
  /// Nothing while it has no lanes.
  std::optional<std::int64_t> behind;
  std::optional<std::chrono::milliseconds> lag;
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

// All throw ConsumerError and store::SqlError. Each is one transaction.

/// Adds a projection: its tables are built from the records, and then follow the change log.
void add_consumer(store::Session& session, const NewConsumer& consumer);

/// Removes a consumer. Its views have no rows any more, and its tables are dropped soon.
void remove_consumer(store::Session& session, const std::string& name);

/// A paused consumer reads no more changes. Its tables stay readable.
void pause_consumer(store::Session& session, const std::string& name, bool paused);

/// Builds the tables of a projection a second time, beside the present ones, and then replaces
/// these. A consumer that stopped or lagged out needs it. No effect while a rebuild is under way.
void rebuild_consumer(store::Session& session, const std::string& name);

/// The same in the transaction of the caller, for a consumer of this projection.
void request_rebuild(store::Session& session, const Projection& projection);

/// Continues a consumer that stopped at a change that failed too often, with this change or after
/// it. A skipped change is a dead letter.
enum class AfterStop : std::uint8_t { Retry, Skip };
void reset_consumer(store::Session& session, const std::string& name, AfterStop after);

/// All consumers by name; during a rebuild the live one first.
std::vector<Consumer> read_consumers(store::Session& session);

}  // namespace skua::feed
