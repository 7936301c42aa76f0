#pragma once

#include <optional>
#include <string>
#include <vector>

#include "atproto/account_group.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"

namespace skua::tables {

/// Adds a node to a query database (ADR 20). An empty database becomes a query database, and an
/// empty database of the node gets its tables and its groups. Throws NodeError, GroupsRefused,
/// postgres::MigrationError and postgres::SqlError; then the query database is unchanged.
void add_node(postgres::Session& session, const std::string& name, const std::string& url,
              const atproto::GroupSet& owned);

/// Sets the address of a node, whose database has moved or was replaced. Returns false if there is
/// no such node. A database from before a move that has ended is one of the node: its part of the
/// move must be repeated (moves::repeat_lost_moves). Throws NodeError if the database at the new
/// address does not answer, or is not one of this node, and postgres::SqlError; then nothing has
/// changed.
bool set_node_url(postgres::Session& session, const std::string& name, const std::string& url);

/// Removes a node from a query database. Its database keeps its rows. Returns false if there is no
/// such node. Throws NodeError and postgres::SqlError.
bool remove_node(postgres::Session& session, const std::string& name);

/// Writes the list of nodes of this query database into all nodes. Returns the problems of the
/// nodes that it did not reach.
std::vector<std::string> copy_nodes(postgres::Session& session);

/// A move of groups between nodes that has not ended (ADR 21).
struct MoveUnderWay {
  std::string from;
  std::string to;
  atproto::GroupSet groups;

  /// Says what moves, and which command ends the move.
  std::string text() const;
};

/// Returns the move that is under way in the network of this query database. skua_reader may read
/// it.
std::optional<MoveUnderWay> move_under_way(postgres::Session& session);

/// Returns the groups that no node owns, such as `32-63`; nothing if every group has a node.
std::optional<std::string> missing_groups(postgres::Session& session);

/// A node, and whether it fits to the query database.
struct CheckedNode {
  postgres::Node node;
  /// Why the node cannot answer questions. Empty: it can.
  std::string problem;
};

/// Connects to all nodes. The role skua_reader may not use it.
std::vector<CheckedNode> check_nodes(postgres::Session& session);

/// Throws NodeError if another node has taken some of the groups `owned` of this database by a move
/// that this database does not know, and still has them. That happens after a restore of a backup,
/// or a failover to a standby, from before the move: then both nodes would store their records.
/// Leaves out nodes that cannot be reached. Does nothing in a database that is no node. Throws
/// postgres::SqlError.
void require_present_groups(postgres::Session& session, const atproto::GroupSet& owned);

}  // namespace skua::tables
