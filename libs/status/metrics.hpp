#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/latency_histogram.hpp"
#include "base/time.hpp"

namespace skua::status {

/// A running source at one moment. Counts are since the process started. Those of rows,
/// transactions and what became of them, and of handles, are of all sources of the process; those
/// of relays that stand by for each other are counted together, by the one that is read.
struct Metrics {
  /// Whether it is read, of relays that stand by for each other.
  enum class Role : std::uint8_t { Alone, Active, Standby };

  std::string source;
  Role role = Role::Alone;
  Timestamp at;
  Timestamp started_at;
  /// False of a capture: how long ago its events were says nothing.
  bool is_live = true;
  bool connected = false;
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::uint64_t commits = 0;
  std::uint64_t syncs = 0;
  std::uint64_t identities = 0;
  std::uint64_t accounts = 0;
  std::uint64_t labels = 0;
  std::uint64_t infos = 0;
  std::uint64_t errors = 0;
  std::uint64_t unknown = 0;
  std::uint64_t events = 0;
  std::uint64_t rows = 0;
  std::uint64_t unchanged = 0;
  std::uint64_t transactions = 0;
  std::uint64_t retries = 0;
  std::uint64_t dead_letters = 0;
  /// Beyond what skua.dead_letter may hold; of the whole process.
  std::uint64_t dead_letters_left_out = 0;
  /// Messages that became dead letters because of an exception that nobody foresaw.
  std::uint64_t unforeseen = 0;
  /// Records of JSON sources that do not hash to the CID they came with: JSON has lost something.
  std::uint64_t altered = 0;
  /// What the filter leaves out: records, and whole messages of accounts that do not pass.
  std::uint64_t filtered = 0;
  std::uint64_t filtered_messages = 0;
  /// Whether signatures are checked; then what passed, and of these what did not follow what was
  /// known before.
  bool is_verified = false;
  std::uint64_t verified = 0;
  std::uint64_t broke = 0;
  /// Passed by a key that was changed since.
  std::uint64_t former_keys = 0;
  /// Commits, #syncs and labels that were dropped, by reason (verify/errc.hpp).
  std::map<std::string, std::uint64_t> dropped;
  /// #account messages: dropped because the account's host denies them, and believed in part
  /// because it could not be asked.
  std::uint64_t stale_accounts = 0;
  std::uint64_t unsettled_accounts = 0;
  /// Accounts whose frames wait for a key or an answer at this moment.
  std::uint64_t accounts_waiting = 0;
  /// Messages that are held at this moment because our clock seems to be wrong.
  std::uint64_t frames_held = 0;
  /// How far PostgreSQL's clock is ahead of ours; nothing: not known.
  std::optional<std::chrono::microseconds> server_clock_ahead;
  /// Claims of handles that were looked up: right, wrong, and to be looked up again because a
  /// server failed.
  std::uint64_t handles_valid = 0;
  std::uint64_t handles_invalid = 0;
  std::uint64_t handles_failed = 0;
  std::uint64_t nuls_removed = 0;
  /// Records whose blocks have another form than DAG-CBOR's.
  std::uint64_t not_canonical = 0;
  std::uint64_t reconnects = 0;
  std::uint64_t skipped = 0;
  std::uint64_t restarts = 0;
  std::uint64_t in_flight = 0;
  /// From reading a frame to its commit.
  LatencyHistogram::Counts latency{};
  std::optional<std::int64_t> cursor;
  /// When the host made the newest frame that was read; nothing before the first.
  std::optional<Timestamp> newest;
  /// When the host made the newest frame whose events are committed; nothing before the first.
  std::optional<Timestamp> committed;
  /// Frames that were read and of which not all is committed, and when the host made the oldest of
  /// them, if that is known yet.
  std::uint64_t waiting = 0;
  std::optional<Timestamp> oldest_waiting;
};

/// How far behind the source is: now minus the time of the newest event that is committed, while
/// others wait; zero when none does. No more than the age of the oldest one that waits. Nothing
/// before the first event.
std::optional<Timestamp::duration> lag_of(const Metrics& metrics);

/// Names and values as JSON, for `skua.figures` and `skua status`.
std::string to_json(const Metrics& metrics);

/// The metrics of a process, with the names and the positions left out: what its sources count for
/// themselves, together. At least one.
Metrics total(const std::vector<Metrics>& sources);

}  // namespace skua::status
