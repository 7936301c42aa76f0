#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "status/metrics_text.hpp"

namespace skua::status {

/// The nodes of a query database (docs/nodes.md).
struct NetworkStatus {
  std::vector<postgres::NodeState> nodes;
  /// The groups of accounts that no node owns, such as `32-63`; nothing if each has a node.
  std::optional<std::string> missing_groups;
  /// The move of groups that is under way, as a text; nothing: there is none.
  std::optional<std::string> move = std::nullopt;
};

/// Throws postgres::SqlError. A node that cannot be read is no error but has a problem.
NetworkStatus read_network_status(postgres::Session& session);

/// Returns `skua status --json` of a query database.
nlohmann::json network_json(const NetworkStatus& status);

/// Returns `skua status` of a query database.
std::string network_text(const NetworkStatus& status);

/// Returns the metrics of the nodes, with the label `node`.
std::vector<LabelledMetric> values_of_network(const NetworkStatus& status);

}  // namespace skua::status
