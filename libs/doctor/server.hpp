#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.hpp"
#include "store/server_check.hpp"
#include "store/session.hpp"

namespace skua::doctor {

// The PostgreSQL server: what `skua run` needs, the settings that docs/install.md recommends,
// and replication slots. The observations throw store::SqlError; the judgements are pure.

/// What `skua run` needs of the server.
Findings judge_server(const store::ServerFacts& facts, const store::ServerNeeds& needs);

/// `pooling`: the result of store::pooling_problem.
Finding judge_pooling(const std::optional<std::string>& pooling);

/// Settings that influence the speed.
struct ServerSettings {
  std::int64_t shared_buffers = 0;  // bytes
  std::int64_t max_wal_size = 0;    // bytes
  double random_page_cost = 0;
  /// Of sessions that do not set it, unlike those of Skua.
  bool jit = false;
};

ServerSettings read_server_settings(store::Session& session);
/// Never more than advice.
Finding judge_server_settings(const ServerSettings& settings);

struct ReplicationSlot {
  std::string name;
  bool is_active = false;
  /// The WAL that it keeps.
  std::int64_t bytes = 0;
};

/// Nothing on a standby, which does not state the WAL that they keep.
std::optional<std::vector<ReplicationSlot>> read_replication_slots(store::Session& session);
Findings judge_replication_slots(const std::optional<std::vector<ReplicationSlot>>& slots);

}  // namespace skua::doctor
