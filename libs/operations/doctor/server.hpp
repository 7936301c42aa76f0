#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "doctor/finding.hpp"
#include "postgres/server_check.hpp"
#include "postgres/session.hpp"

namespace skua::doctor {

// The functions check the PostgreSQL server: its requirements for `skua run`, the settings that
// docs/install.md recommends, and replication slots. The observations throw postgres::SqlError; the
// judgements are pure.

/// Judges whether the server meets the needs of `skua run`.
Findings judge_server(const postgres::ServerFacts& facts, const postgres::ServerNeeds& needs);

/// Judges pooling. `pooling` is the result of postgres::pooling_problem.
Finding judge_pooling(const std::optional<std::string>& pooling);

/// The settings of the server that influence the speed.
struct ServerSettings {
  std::int64_t shared_buffers = 0;  // bytes
  std::int64_t max_wal_size = 0;    // bytes
  double random_page_cost = 0;
  /// The setting for sessions that do not set jit. Sessions of Skua set it.
  bool jit = false;
};

ServerSettings read_server_settings(postgres::Session& session);
/// Judges the settings. The finding is advice at most.
Finding judge_server_settings(const ServerSettings& settings);

struct ReplicationSlot {
  std::string name;
  bool is_active = false;
  /// The size of the WAL that the slot keeps.
  std::int64_t bytes = 0;
};

/// Reads the replication slots. Returns nothing on a standby, which does not state the WAL that its
/// slots keep.
std::optional<std::vector<ReplicationSlot>> read_replication_slots(postgres::Session& session);
Findings judge_replication_slots(const std::optional<std::vector<ReplicationSlot>>& slots);

/// Says where the settings that `skua doctor` examines come from.
struct SettingsFound {
  /// The origin of the pages of a running `skua run`, such as `http://127.0.0.1:2580`; empty if the
  /// process was not asked.
  std::string origin = {};
  /// Why the process did not state its settings; empty if it did.
  std::string failure = {};
  /// True if the process has a session in the database; nothing if the database did not answer.
  std::optional<bool> uses_database = std::nullopt;
  /// The examined settings in the form of flags: `--relay wss://relay.example --verify full`.
  std::string examined = {};
};

/// Judges the origin of the settings. `reader` is a session that reads a source into the database
/// now; nothing if there is none. Pure.
Finding judge_settings(const SettingsFound& found, const std::optional<std::string>& reader);

/// The differences of other clocks from the clock of this machine. A positive value says that the
/// other clock is ahead.
struct ClocksFound {
  /// The difference of PostgreSQL's clock; nothing if the database cannot be reached.
  std::optional<std::chrono::microseconds> server_ahead;
  /// The differences by the header Date of each host that answered. The header has whole seconds.
  std::vector<std::chrono::microseconds> hosts_ahead;
};

/// Returns how far PostgreSQL's clock is ahead of `ours`; nothing if PostgreSQL answered too
/// slowly. Throws postgres::SqlError.
std::optional<std::chrono::microseconds> read_server_ahead(postgres::Session& session,
                                                           const Clock& ours);

/// Judges the clocks. Clocks that differ by less than five seconds agree (postgres::kClocksAgree).
/// A difference of five minutes or more is an error, because Skua would accept or drop commits
/// wrongly. Pure.
Findings judge_clocks(const ClocksFound& clocks);

/// The size of the database, and the space on the disk of its data directory, in bytes.
struct DiskState {
  std::int64_t database = 0;
  /// The space; nothing if the server is on another machine, or the role may not know its data
  /// directory.
  struct Space {
    std::int64_t free = 0;
    std::int64_t total = 0;
  };
  std::optional<Space> space;
};

/// Reads the sizes. Throws postgres::SqlError.
DiskState read_disk(postgres::Session& session);

Finding judge_disk(const DiskState& disk);

}  // namespace skua::doctor
