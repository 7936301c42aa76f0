#include "status/network_status.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/account_group.hpp"
#include "tables/network_nodes.hpp"

namespace skua::status {
namespace {

constexpr MetricInfo kUp{"", "skua_node_up", "0 or 1",
                         "Whether the query database can read the node"};
constexpr MetricInfo kAge{"", "skua_node_event_age_seconds", "seconds",
                          "The age of the newest event that the node has read"};
constexpr MetricInfo kWaits{"", "skua_node_references_waiting", "0 or 1",
                            "Whether accounts that records of the node mention wait to be sent to "
                            "other nodes"};

std::string groups_of(const postgres::NodeState& node) {
  return atproto::GroupSet::parse(node.owned).value().text();
}

std::string node_text(const postgres::NodeState& node) {
  std::string text =
      fmt::format("  {}: groups {}, {}{}\n", node.name, groups_of(node),
                  node.read_up_to ? "read up to " + *node.read_up_to + " UTC" : "no event read",
                  node.has_waiting ? ", references wait" : "");
  if (!node.problem.empty()) text += "    cannot be read: " + node.problem + "\n";
  return text;
}

}  // namespace

NetworkStatus read_network_status(postgres::Session& session) {
  const auto move = tables::move_under_way(session);
  return {postgres::node_states(session), tables::missing_groups(session),
          move ? std::optional(move->text()) : std::nullopt};
}

nlohmann::json network_json(const NetworkStatus& status) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const postgres::NodeState& node : status.nodes) {
    nodes.push_back({{"name", node.name},
                     {"groups", groups_of(node)},
                     {"read_up_to", nullptr},
                     {"age_seconds", nullptr},
                     {"references_wait", node.has_waiting},
                     {"has_filter", node.has_filter},
                     {"kept", node.kept},
                     {"problem", nullptr}});
    if (node.read_up_to) nodes.back()["read_up_to"] = *node.read_up_to;
    if (node.age) nodes.back()["age_seconds"] = *node.age;
    if (!node.problem.empty()) nodes.back()["problem"] = node.problem;
  }
  return {{"nodes", nodes},
          {"missing_groups", status.missing_groups.value_or("")},
          {"move", status.move.value_or("")}};
}

std::string network_text(const NetworkStatus& status) {
  std::string text =
      "a query database without records of its own; `skua status` with the database "
      "of a node has the status of the node\n";
  for (const postgres::NodeState& node : status.nodes) text += node_text(node);
  if (status.missing_groups) {
    text += fmt::format("  no node owns the groups {}: answers miss their accounts\n",
                        *status.missing_groups);
  }
  if (status.move) text += "  " + *status.move + "\n";
  return text;
}

std::vector<LabelledMetric> values_of_network(const NetworkStatus& status) {
  std::vector<LabelledMetric> all;
  const auto add = [&](const postgres::NodeState& node, const MetricInfo& info,
                       MetricValue::Value value) {
    all.push_back({{info, MetricKind::Gauge, std::move(value)}, {{"node", node.name}}});
  };
  for (const postgres::NodeState& node : status.nodes) {
    add(node, kUp, node.problem.empty());
    if (!node.problem.empty()) continue;
    if (node.age) add(node, kAge, *node.age);
    add(node, kWaits, node.has_waiting);
  }
  return all;
}

}  // namespace skua::status
