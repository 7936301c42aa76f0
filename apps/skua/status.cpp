#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "atproto/account_group.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"
#include "status/reports.hpp"
#include "tables/network_nodes.hpp"

namespace skua::cli {
namespace {

/// Prints the nodes of a query database. All other reports are those of the nodes.
int print_nodes(postgres::Session& session, bool is_json) {
  nlohmann::json nodes = nlohmann::json::array();
  std::string text =
      "a query database without records of its own; `skua status` with the database "
      "of a node has the status of the node\n";
  for (const postgres::NodeState& node : postgres::node_states(session)) {
    const std::string groups = atproto::GroupSet::parse(node.owned).value().text();
    nodes.push_back({{"name", node.name},
                     {"groups", groups},
                     {"read_up_to", nullptr},
                     {"references_wait", node.has_waiting},
                     {"problem", nullptr}});
    if (node.read_up_to) nodes.back()["read_up_to"] = *node.read_up_to;
    if (!node.problem.empty()) nodes.back()["problem"] = node.problem;
    text +=
        fmt::format("  {}: groups {}, {}{}\n", node.name, groups,
                    node.read_up_to ? "read up to " + *node.read_up_to + " UTC" : "no event read",
                    node.has_waiting ? ", references wait" : "");
    if (!node.problem.empty()) text += "    cannot be read: " + node.problem + "\n";
  }
  const auto missing = tables::missing_groups(session);
  if (missing) {
    text += fmt::format("  no node owns the groups {}: answers miss their accounts\n", *missing);
  }
  if (!is_json) {
    fmt::print("{}", text);
    return kSuccess;
  }
  const nlohmann::json status = {{"nodes", nodes}, {"missing_groups", missing.value_or("")}};
  fmt::print("{}\n", status.dump(2));
  return kSuccess;
}

int print_status(const Invocation& invocation) {
  const std::string url = require_database(invocation);
  app::check_database_to_read(url);
  {
    postgres::Session session(url, postgres::process_name("skua status"));
    if (postgres::is_query_database(session)) return print_nodes(session, invocation[kJson]);
  }
  const nlohmann::json status = status::read_status(url, system_clock());
  fmt::print("{}", invocation[kJson] ? status.dump(2) + "\n" : status::status_text(status));
  return kSuccess;
}

}  // namespace

CommandSpecs status_commands() {
  return {{"status",
           "Print sources, cursors, lag, backfills, tables and dead letters",
           {kDatabase, kJson},
           print_status}};
}

}  // namespace skua::cli
