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

// The PostgreSQL server: what `skua run` needs, the settings that docs/install.md recommends,
// and replication slots. The observations throw postgres::SqlError; the judgements are pure.

/// What `skua run` needs of the server.
Findings judge_server(const postgres::ServerFacts& facts, const postgres::ServerNeeds& needs);

/// `pooling`: the result of postgres::pooling_problem.
Finding judge_pooling(const std::optional<std::string>& pooling);

/// Settings that influence the speed.
struct ServerSettings {
  std::int64_t shared_buffers = 0;  // bytes
  std::int64_t max_wal_size = 0;    // bytes
  double random_page_cost = 0;
  /// Of sessions that do not set it, unlike those of Skua.
  bool jit = false;
};

ServerSettings read_server_settings(postgres::Session& session);
/// Never more than advice.
Finding judge_server_settings(const ServerSettings& settings);

struct ReplicationSlot {
  std::string name;
  bool is_active = false;
  /// The WAL that it keeps.
  std::int64_t bytes = 0;
};

/// Nothing on a standby, which does not state the WAL that they keep.
std::optional<std::vector<ReplicationSlot>> read_replication_slots(postgres::Session& session);
Findings judge_replication_slots(const std::optional<std::vector<ReplicationSlot>>& slots);

/// The origin of the settings that `skua doctor` examines.
struct SettingsFound {
  /// The origin of the pages of a running `skua run`, such as `http://127.0.0.1:2580`; empty: it
  /// was not asked.
  std::string origin = {};
  /// Why the process did not state its settings; empty: it did.
  std::string failure = {};
  /// Whether the process has a session in the database; nothing: the database did not answer.
  std::optional<bool> uses_database = std::nullopt;
  /// The examined settings, as flags: `--relay wss://relay.example --verify full`.
  std::string examined = {};
};

/// `reader`: a session that reads a source into the database now; nothing: none does. Pure.
Finding judge_settings(const SettingsFound& found, const std::optional<std::string>& reader);

/// Other clocks, compared with the one of this machine. Positive: the other one is ahead.
struct ClocksFound {
  /// Nothing: the database cannot be reached.
  std::optional<std::chrono::microseconds> server_ahead;
  /// Of the header Date of each host that answered, which has whole seconds.
  std::vector<std::chrono::microseconds> hosts_ahead;
};

/// How far PostgreSQL's clock is ahead of `ours`; nothing if it answered too slowly. Throws
/// postgres::SqlError.
std::optional<std::chrono::microseconds> read_server_ahead(postgres::Session& session,
                                                           const Clock& ours);

/// Clocks that differ by less than five seconds agree (postgres::kClocksAgree). From five minutes
/// on, Skua would accept or drop commits wrongly: an error. Pure.
Findings judge_clocks(const ClocksFound& clocks);

/// The size of the database, and the space of the disk with its data directory, in bytes.
struct DiskState {
  std::int64_t database = 0;
  /// Nothing: the server is on another machine, or the role may not know its data directory.
  struct Space {
    std::int64_t free = 0;
    std::int64_t total = 0;
  };
  std::optional<Space> space;
};

/// Throws postgres::SqlError.
DiskState read_disk(postgres::Session& session);

/// Pure.
Finding judge_disk(const DiskState& disk);

}  // namespace skua::doctor
