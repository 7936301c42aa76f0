#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/account_group.hpp"
#include "base/text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "consumers/leases/leased_consumers.hpp"
#include "consumers/own/own_projection.hpp"
#include "consumers/own/projection_catalog.hpp"
#include "database.hpp"
#include "moves/group_move.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"
#include "tables/network_nodes.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

std::string read_node_name(const SettingValue& given) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const std::string& name = given.value;
  bool is_valid = !name.empty() && name.size() <= 30 && name.front() >= 'a' && name.front() <= 'z';
  for (const char c : name) is_valid = is_valid && is_allowed(c);
  if (is_valid) return name;
  throw UsageError(
      fmt::format("'{}' is no name of a node: it has at most 30 letters a to z, digits "
                  "and _, and begins with a letter",
                  name));
}

std::optional<std::string> read_optional_node(const SettingValue& given) {
  return read_node_name(given);
}

const Option<std::string> kNode({.name = "NODE", .meaning = "The name of a node, such as west"},
                                read_node_name);
const Option<OptionalText> kNodeUrl({.name = "--node-url",
                                     .type = "URL",
                                     .meaning = "The database of the node, which may be empty. The "
                                                "query database and the other nodes connect to it "
                                                "with this URL"},
                                    read_database);
const Option<std::optional<atproto::GroupSet>> kNodeGroups(
    {.name = "--groups",
     .type = "GROUPS",
     .meaning = "The groups of accounts (0 to 63) that the node owns, such as 0-31"},
    read_groups);

const Option<atproto::GroupSet> kMovedGroups(
    {.name = "GROUPS", .meaning = "The groups of accounts that move, such as 32-33"}, read_groups);
const Option<std::optional<std::string>> kTo({.name = "--to",
                                              .type = "NODE",
                                              .meaning = "The node that takes the groups"},
                                             read_optional_node);

void print_missing(postgres::Session& session) {
  if (const auto groups = tables::missing_groups(session)) {
    fmt::print("no node owns the groups {}: answers miss their accounts\n", *groups);
  }
}

/// Returns kFailure if a node did not get the list.
int copy_list(postgres::Session& session) {
  const auto problems = tables::copy_nodes(session);
  for (const std::string& problem : problems) {
    command_line::print_stderr(
        "{}. It does not have the new list of nodes: repeat `skua nodes "
        "sync` when it can be reached\n",
        problem);
  }
  return problems.empty() ? kSuccess : kFailure;
}

/// Gives the consumers that are on each node to the nodes that lack them, such as a new one.
void share_consumers(postgres::Session& session) {
  std::map<std::string, consumers::NewLeasedConsumer> known;
  std::vector<std::pair<postgres::Node, std::set<std::string>>> reached;
  for (const auto& [node, problem] : tables::check_nodes(session)) {
    if (!problem.empty()) continue;
    postgres::Session of_node = postgres::open_node(node, "skua nodes");
    auto& [_, names] = reached.emplace_back(node, std::set<std::string>());
    for (auto& consumer : consumers::read_network_consumers(of_node)) {
      names.insert(consumer.name);
      known.try_emplace(consumer.name, std::move(consumer));
    }
  }
  for (const auto& [node, names] : reached) {
    for (auto& [name, consumer] : known) {
      if (names.contains(name)) continue;
      postgres::Session of_node = postgres::open_node(node, "skua nodes");
      consumer.first = consumers::FromOldest{};
      consumers::add_leased_consumer(of_node, consumer);
      fmt::print("the node {} has the consumer {} now\n", node.name, name);
    }
  }
}

/// Gives the projections of the query database that users added to the nodes that lack them.
void share_projections(postgres::Session& session) {
  const auto stored = consumers::read_stored_projections(session);
  if (stored.empty()) return;
  for (const auto& [node, problem] : tables::check_nodes(session)) {
    if (!problem.empty()) continue;
    postgres::Session of_node = postgres::open_node(node, "skua nodes");
    for (const consumers::StoredProjection& one : stored) {
      if (consumers::is_stored(of_node, one.name)) continue;
      consumers::add_projection(of_node, consumers::read_own_projection(one.text));
      fmt::print("the node {0} has the projection {1} now: `skua consumers add {1}` builds it\n",
                 node.name, one.name);
    }
  }
}

postgres::Session open_query_database(const Invocation& invocation) {
  const std::string url = require_database(invocation);
  app::check_database_to_read(url);
  return {url, postgres::process_name("skua nodes")};
}

void require_query_database(postgres::Session& session) {
  if (postgres::is_query_database(session)) return;
  throw postgres::NodeError(
      "this is not a query database: `skua nodes add` makes one of an empty database");
}

int nodes_add(const Invocation& invocation) {
  const std::string name = invocation[kNode];
  const auto url = invocation[kNodeUrl];
  const auto groups = invocation[kNodeGroups];
  if (!url || !groups) throw UsageError("state --node-url and --groups of the node");
  postgres::Session session = open_query_database(invocation);
  tables::add_node(session, name, *url, *groups);
  fmt::print("the node {} owns the groups {}\n", name, groups->text());
  print_missing(session);
  share_projections(session);
  share_consumers(session);
  return copy_list(session);
}

/// A node may have a database from before a move, after a restore or a failover.
void repeat_lost_moves(postgres::Session& session) {
  moves::repeat_lost_moves(session, [](const std::string& line) { print_progress(line); });
}

int nodes_set(const Invocation& invocation) {
  const std::string name = invocation[kNode];
  const auto url = invocation[kNodeUrl];
  if (!url) throw UsageError("state --node-url of the node");
  postgres::Session session = open_query_database(invocation);
  require_query_database(session);
  if (!tables::set_node_url(session, name, *url)) {
    throw postgres::NodeError(
        fmt::format("there is no node {}: `skua nodes list` has their names", name));
  }
  fmt::print("the node {} is at {}\n", name, postgres::without_password(*url));
  repeat_lost_moves(session);
  return copy_list(session);
}

int nodes_list(const Invocation& invocation) {
  postgres::Session session = open_query_database(invocation);
  require_query_database(session);
  const auto states = tables::check_nodes(session);
  const auto missing = tables::missing_groups(session);
  const auto move = tables::move_under_way(session);
  if (invocation[kJson]) {
    nlohmann::json nodes = nlohmann::json::array();
    for (const auto& [node, problem] : states) {
      nodes.push_back({{"name", node.name},
                       {"url", postgres::without_password(node.url)},
                       {"groups", atproto::GroupSet::parse(node.owned).value().text()},
                       {"problem", problem.empty() ? nlohmann::json() : nlohmann::json(problem)}});
    }
    const nlohmann::json json = {{"nodes", nodes},
                                 {"missing_groups", missing.value_or("")},
                                 {"move", move ? move->text() : ""}};
    fmt::print("{}\n", json.dump(2));
    return kSuccess;
  }
  for (const auto& [node, problem] : states) {
    fmt::print("{}: groups {}, {}{}\n", node.name,
               atproto::GroupSet::parse(node.owned).value().text(),
               postgres::without_password(node.url), problem.empty() ? "" : ": " + problem);
  }
  if (move) fmt::print("{}\n", move->text());
  print_missing(session);
  return kSuccess;
}

int nodes_remove(const Invocation& invocation) {
  const std::string name = invocation[kNode];
  postgres::Session session = open_query_database(invocation);
  require_query_database(session);
  if (!tables::remove_node(session, name)) {
    fmt::print("nothing changed: there is no node {}\n", name);
    return kSuccess;
  }
  fmt::print("the node {} is removed; its database keeps its rows\n", name);
  print_missing(session);
  return copy_list(session);
}

int nodes_move(const Invocation& invocation) {
  const atproto::GroupSet groups = invocation[kMovedGroups];
  const auto to = invocation[kTo];
  if (!to) throw UsageError("state --to, the node that takes the groups");
  postgres::Session session = open_query_database(invocation);
  require_query_database(session);
  moves::move_groups(session, groups, *to, [](const std::string& line) { print_progress(line); });
  fmt::print("the groups {} are on the node {}\n", groups.text(), *to);
  return copy_list(session);
}

int nodes_sync(const Invocation& invocation) {
  postgres::Session session = open_query_database(invocation);
  require_query_database(session);
  postgres::join_on_nodes(session);
  repeat_lost_moves(session);
  share_projections(session);
  share_consumers(session);
  return copy_list(session);
}

}  // namespace

CommandSpecs nodes_commands() {
  const OptionUse node = required(kNode);
  return {{"nodes", "Join the databases of several machines in one query database"},
          {"nodes add",
           "Add a node to a query database",
           {kDatabase, node, kNodeUrl, kNodeGroups},
           nodes_add},
          {"nodes list",
           "List the nodes, their groups and their problems",
           {kDatabase, kJson},
           nodes_list},
          {"nodes move",
           "Move groups of accounts to another node",
           {kDatabase, required(kMovedGroups), kTo},
           nodes_move},
          {"nodes set",
           "Set the address of a node that was moved, restored or failed over",
           {kDatabase, node, kNodeUrl},
           nodes_set},
          {"nodes remove", "Remove a node from a query database", {kDatabase, node}, nodes_remove},
          {"nodes sync", "Write the list of nodes into all nodes again", {kDatabase}, nodes_sync}};
}

}  // namespace skua::cli
