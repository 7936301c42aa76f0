#include "tables/network_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "postgres/connection_string.hpp"
#include "postgres/migrations.hpp"
#include "tables/account_groups.hpp"
#include "tables/network_nodes.sql.hpp"

namespace skua::tables {
namespace {

using postgres::Node;
using postgres::NodeError;

struct Overlap {
  std::string name;
  std::string groups;
};

/// A row of network_move.
struct MoveRow {
  std::string from;
  std::string to;
  std::string groups;
};

/// Throws NodeError unless the new node fits to those of the query database.
void require_new(postgres::Session& session, const Node& node) {
  for (const Node& other : postgres::read_nodes(session)) {
    if (other.name == node.name) {
      throw NodeError(
          fmt::format("there is a node {} already: choose another name, or remove it "
                      "with `skua nodes remove {}`",
                      node.name, node.name));
    }
  }
  if (const auto overlap = session.query_first<Overlap>(sql::network_overlap, node.owned)) {
    throw NodeError(fmt::format(
        "the node {} owns the groups {} already: state other groups, or remove that node with "
        "`skua nodes remove {}`",
        overlap->name, atproto::GroupSet::parse(overlap->groups).value().text(), overlap->name));
  }
}

void require_no_move(postgres::Session& session) {
  if (const auto move = move_under_way(session)) throw NodeError(move->text());
}

/// Makes an empty database a query database. Does nothing if it is one.
void make_query_database(postgres::Session& session) {
  if (postgres::is_query_database(session)) return;
  if (load_number_key(session)) {
    throw NodeError(
        "this database is a node of a network: state its query database, or an empty database, "
        "with --database");
  }
  if (session.query_one<bool>(sql::network_has_content)) {
    throw NodeError(
        "this database has accounts, jobs or consumers of its own, and a query database has none: "
        "state an empty database with --database, and index the content of this one into nodes");
  }
  session.execute(sql::network_set_key);
  session.execute(sql::network_set_shift);
  postgres::divide_tables(session, postgres::schema());
}

/// Makes the database of the node a node with these groups and this key.
void make_remote_node(const Node& node, const atproto::GroupSet& owned,
                      const atproto::NumberKey& key) {
  postgres::Session remote = postgres::open_node(node, "skua nodes");
  postgres::SchemaChanges changes = postgres::pending_changes(remote, postgres::schema());
  if (changes.is_new) {
    postgres::migrate(remote, postgres::schema());
  } else if (!changes.empty()) {
    throw NodeError(
        fmt::format("the database of the node {} {}: run `skua migrate --database {}` first",
                    node.name, changes.text(), postgres::without_password(node.url)));
  }
  if (postgres::is_query_database(remote)) {
    throw NodeError(
        fmt::format("{} is a query database: state the database of a node, which may "
                    "be empty, with --node-url",
                    postgres::without_password(node.url)));
  }
  make_node(remote, owned, key);
  postgres::Transaction transaction(remote);
  postgres::hide_ranges(remote);
  postgres::show_ranges(remote);
  transaction.commit();
}

/// Returns why a database cannot be one of a node, whatever its groups are; empty: it can.
std::string problem_of(postgres::Session& session, postgres::Session& remote) {
  const auto changes = postgres::pending_changes(remote, postgres::schema());
  if (!changes.empty()) {
    return fmt::format("its database {}: run `skua migrate` with it", changes.text());
  }
  if (load_number_key(remote) != load_number_key(session)) {
    return "its database has another key of account numbers";
  }
  return {};
}

bool takes_part(const std::optional<MoveUnderWay>& move, const Node& node) {
  return move && (node.name == move->from || node.name == move->to);
}

/// Returns whether a database with these groups is one of the node from before moves that have
/// ended.
bool is_from_before_moves(postgres::Session& session, const Node& node,
                          const atproto::GroupSet& owned) {
  const auto set_of = [](const std::string& list) {
    return atproto::GroupSet::parse(list).value();
  };
  const auto former = session.query_one<std::string>(sql::network_former_groups, node.name);
  return owned.has_all_of(set_of(node.owned)) && set_of(former).has_all_of(owned);
}

/// Returns why the groups of a database are not those of its node; empty: they are.
std::string groups_problem(postgres::Session& session, const Node& node,
                           const atproto::GroupSet& owned,
                           const std::optional<MoveUnderWay>& move) {
  if (owned.list() == node.owned || takes_part(move, node)) return {};
  return fmt::format("its database owns the groups {}{}", owned.text(),
                     is_from_before_moves(session, node, owned)
                         ? ", because it is from before a move: `skua nodes sync` repeats its part "
                           "of the move"
                         : "");
}

/// Returns why a database cannot become the one of a node; empty: it can.
std::string refusal_of(postgres::Session& session, postgres::Session& remote, const Node& node) {
  if (remote.query_one<bool>(sql::network_is_standby)) {
    return "its server is a read-only standby: promote it first";
  }
  std::string problem = problem_of(session, remote);
  if (!problem.empty()) return problem;
  const auto owned = load_account_groups(remote).owned;
  if (is_from_before_moves(session, node, owned)) return {};
  return groups_problem(session, node, owned, move_under_way(session));
}

/// Returns, for each of these groups, the number of its last move in which the database took part;
/// 0 if there was none.
std::vector<std::int64_t> last_moves(postgres::Session& session, const atproto::GroupSet& groups) {
  return session.query<std::int64_t>(sql::network_last_moves, groups.list());
}

/// The groups that a database and that of a node own, and the moves of them that the node knows.
struct CommonGroups {
  atproto::GroupSet groups;
  std::vector<std::int64_t> moves;
};

/// Returns nothing if the node belongs to another network, or fails: it does not keep others from
/// their work.
std::optional<CommonGroups> common_groups(const Node& node, const atproto::NumberKey& key,
                                          const atproto::GroupSet& owned) {
  try {
    postgres::Session remote = postgres::open_node(node, "skua nodes");
    if (load_number_key(remote) != key) return std::nullopt;
    const auto common = owned.common(load_account_groups(remote).owned);
    return CommonGroups{common, last_moves(remote, common)};
  } catch (const NodeError&) {
    return std::nullopt;
  } catch (const postgres::SqlError&) {
    return std::nullopt;
  }
}

}  // namespace

void add_node(postgres::Session& session, const std::string& name, const std::string& url,
              const atproto::GroupSet& owned) {
  const Node node{name, url, owned.list()};
  postgres::Transaction transaction(session);
  postgres::require_foreign_tables(session);
  make_query_database(session);
  require_no_move(session);
  require_new(session, node);
  const auto key = load_number_key(session);
  if (!key) {
    throw NodeError(
        "this query database has lost its key (skua.number_key): restore it from a backup");
  }
  make_remote_node(node, owned, *key);
  session.execute(sql::network_insert, name, url, node.owned);
  postgres::disconnect_nodes(session);
  postgres::connect_nodes(session);
  transaction.commit();
}

bool set_node_url(postgres::Session& session, const std::string& name, const std::string& url) {
  postgres::Transaction transaction(session);
  auto nodes = postgres::read_nodes(session);
  const auto node = std::ranges::find(nodes, name, &Node::name);
  if (node == nodes.end()) return false;
  node->url = url;
  postgres::Session remote = postgres::open_node(*node, "skua nodes");
  const std::string problem = refusal_of(session, remote, *node);
  if (!problem.empty()) {
    throw NodeError(fmt::format("{} cannot be the database of the node {}: {}",
                                postgres::without_password(url), name, problem));
  }
  session.execute(sql::network_set_url, name, url);
  postgres::connect_node(session, *node);
  transaction.commit();
  return true;
}

bool remove_node(postgres::Session& session, const std::string& name) {
  postgres::Transaction transaction(session);
  bool exists = false;
  for (const Node& node : postgres::read_nodes(session)) exists = exists || node.name == name;
  if (!exists) return false;
  require_no_move(session);
  session.execute(sql::network_delete, name);
  session.execute(sql::network_drop_server, name);
  transaction.commit();
  return true;
}

std::vector<std::string> copy_nodes(postgres::Session& session) {
  std::vector<std::string> problems;
  const std::vector<Node> nodes = postgres::read_nodes(session);
  for (const Node& node : nodes) {
    try {
      postgres::Session remote = postgres::open_node(node, "skua nodes");
      postgres::Transaction transaction(remote);
      remote.execute(sql::network_clear);
      for (const Node& each : nodes) {
        remote.execute(sql::network_insert, each.name, each.url, each.owned);
      }
      transaction.commit();
    } catch (const std::runtime_error& error) {
      problems.emplace_back(error.what());
    }
  }
  return problems;
}

std::string MoveUnderWay::text() const {
  return fmt::format(
      "the groups {} are being moved from {} to {}, and `skua nodes move {} --to {}` ends that",
      groups.text(), from, to, groups.text(), to);
}

std::optional<MoveUnderWay> move_under_way(postgres::Session& session) {
  auto row = session.query_first<MoveRow>(sql::network_move);
  if (!row) return std::nullopt;
  return MoveUnderWay{std::move(row->from), std::move(row->to),
                      atproto::GroupSet::parse(row->groups).value()};
}

std::optional<std::string> missing_groups(postgres::Session& session) {
  const auto list = session.query_one<std::string>(sql::network_missing);
  if (list.empty()) return std::nullopt;
  return atproto::GroupSet::parse(list).value().text();
}

std::vector<CheckedNode> check_nodes(postgres::Session& session) {
  std::vector<CheckedNode> states;
  const auto move = move_under_way(session);
  for (Node& node : postgres::read_nodes(session)) {
    CheckedNode state{std::move(node), {}};
    try {
      postgres::Session remote = postgres::open_node(state.node, "skua nodes");
      state.problem = problem_of(session, remote);
      if (state.problem.empty()) {
        state.problem =
            groups_problem(session, state.node, load_account_groups(remote).owned, move);
      }
    } catch (const std::runtime_error& error) {
      state.problem = error.what();
    }
    states.push_back(std::move(state));
  }
  return states;
}

void require_present_groups(postgres::Session& session, const atproto::GroupSet& owned) {
  const auto key = load_number_key(session);
  if (!key) return;
  // All nodes are asked at the same time, because each may need its whole time limit. The list has
  // this node, too, which knows the same moves as this database.
  const std::vector<Node> nodes = postgres::read_nodes(session);
  std::vector<std::future<std::optional<CommonGroups>>> answers;
  answers.reserve(nodes.size());
  for (const Node& node : nodes) {
    answers.push_back(std::async(std::launch::async, common_groups, node, *key, owned));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto common = answers[i].get();
    if (!common) continue;
    const auto known = last_moves(session, common->groups);
    if (std::ranges::equal(common->moves, known, std::less_equal())) continue;
    throw NodeError(fmt::format(
        "the node {} has taken groups of this database ({}), which does not know of their move: it "
        "is a backup or a standby from before `skua nodes move`. `skua nodes sync` with the query "
        "database repeats its part of the move",
        nodes[i].name, common->groups.text()));
  }
}

}  // namespace skua::tables
