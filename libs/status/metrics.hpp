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

/// The state of a running source at one time. Counts are since the start of the process. Rows,
/// transactions, dead letters and handles are counted for all sources of the process together.
/// Relays that stand by for each other are counted together, by the active one.
struct Metrics {
  /// For relays that stand by for each other.
  enum class Role : std::uint8_t { Alone, Active, Standby };

  std::string source;
  Role role = Role::Alone;
  Timestamp at;
  Timestamp started_at;
  /// False for a capture: the age of its events is not a lag.
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
  /// Dead letters beyond the limits of skua.dead_letter, for the whole process.
  std::uint64_t dead_letters_left_out = 0;
  /// Messages that became dead letters because of an unexpected exception.
  std::uint64_t unforeseen = 0;
  /// Records of JSON sources whose hash is not their CID: the conversion to JSON lost information.
  std::uint64_t altered = 0;
  /// Records, and whole messages, that the filter excludes.
  std::uint64_t filtered = 0;
  std::uint64_t filtered_messages = 0;
  /// Whether signatures are checked; the number of verified messages, and of those that did not
  /// follow the known head.
  bool is_verified = false;
  std::uint64_t verified = 0;
  std::uint64_t broke = 0;
  /// Verified with a former key.
  std::uint64_t former_keys = 0;
  /// Commits, #syncs and labels that were dropped, by reason (verify/errc.hpp).
  std::map<std::string, std::uint64_t> dropped;
  /// #account messages: dropped because the host states another status, and applied in part because
  /// the host could not be asked.
  std::uint64_t stale_accounts = 0;
  std::uint64_t unsettled_accounts = 0;
  /// Accounts with parked frames now.
  std::uint64_t accounts_waiting = 0;
  /// Messages that are held now because the local clock seems to be wrong.
  std::uint64_t frames_held = 0;
  /// How far PostgreSQL's clock is ahead of the local one; nothing: not known.
  std::optional<std::chrono::microseconds> server_clock_ahead;
  /// Verified handle claims: valid, invalid, and to be repeated because a server failed.
  std::uint64_t handles_valid = 0;
  std::uint64_t handles_invalid = 0;
  std::uint64_t handles_failed = 0;
  std::uint64_t nuls_removed = 0;
  /// Records whose blocks are not canonical DAG-CBOR.
  std::uint64_t not_canonical = 0;
  std::uint64_t reconnects = 0;
  std::uint64_t skipped = 0;
  std::uint64_t restarts = 0;
  std::uint64_t in_flight = 0;
  /// The time from the arrival of a frame to its commit.
  LatencyHistogram::Counts latency{};
  std::optional<std::int64_t> cursor;
  /// When the host made the newest frame that was read; nothing: none was.
  std::optional<Timestamp> newest;
  /// When the host made the newest frame whose events are committed; nothing: none are.
  std::optional<Timestamp> committed;
  /// Frames that were read and are not committed completely, and when the host made the oldest of
  /// them, if that is known.
  std::uint64_t waiting = 0;
  std::optional<Timestamp> oldest_waiting;
};

/// The lag: now minus the time of the newest committed event, while other events wait; zero when
/// none wait. At most the age of the oldest waiting event. Nothing: there was no event.
std::optional<Timestamp::duration> lag_of(const Metrics& metrics);

/// Names and values as JSON, for `skua.figures` and `skua status`.
std::string to_json(const Metrics& metrics);

/// The metrics of a process: the sum over its sources, without names and positions. `sources` is
/// not empty.
Metrics total(const std::vector<Metrics>& sources);

}  // namespace skua::status
