#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "postgres/migrations.hpp"
#include "postgres/session.hpp"

namespace skua::postgres {

// A query database has the schema of Skua, and its tables read the databases of the nodes (ADR 20).
// schema/functions/nodes.sql makes its tables.

/// A row of skua.nodes.
struct Node {
  std::string name;
  std::string url;
  /// The numbers of its groups of accounts, with commas.
  std::string owned;

  friend bool operator==(const Node&, const Node&) = default;
};

/// A node cannot be used, or a database cannot become a query database. The message tells the user
/// what to do.
class NodeError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns whether the tables of the database read nodes. The database needs no tables.
bool is_query_database(Session& session);

/// Returns the nodes of this database by name. The role skua_reader may not read them.
std::vector<Node> read_nodes(Session& session);

/// Returns the nodes of this query database. Throws NodeError if it has none.
std::vector<Node> require_nodes(Session& session);

/// A move of groups that the query database follows: their changes before the first position are in
/// the change log of one node, and those from the second one on in that of the other node.
struct GroupMove {
  std::string from;
  std::string to;
  std::int32_t left_timeline;
  std::int64_t left_pos;
  std::int32_t arrived_timeline;
  std::int64_t arrived_pos;
};

/// Returns the moves of this query database, the oldest one first.
std::vector<GroupMove> read_moves(Session& session);

/// Opens a session with a node. Throws NodeError if it cannot be reached.
Session open_node(const Node& node, const std::string& command);

/// A node as a question of the query database finds it. skua_reader may read it.
struct NodeState {
  std::string name;
  std::string owned;
  /// The time of the newest event that the node has read, and its age in seconds.
  std::optional<std::string> read_up_to = std::nullopt;
  std::optional<std::int64_t> age = std::nullopt;
  /// Whether accounts or keys of other nodes wait to be sent to them.
  bool has_waiting = false;
  bool has_filter = false;
  /// How long the node keeps records, such as `app.bsky.feed.like for 90 days`. Empty: forever.
  std::string kept = {};
  /// Why the node cannot be read. Empty: it can.
  std::string problem = {};
};

/// Reads the states of all nodes through the query database.
std::vector<NodeState> node_states(Session& session);

/// Returns the names of the nodes on which a projection is not built or is more than a minute
/// behind; none for a projection that the query database computes. Nothing: a query database does
/// not have this projection.
std::optional<std::vector<std::string>> nodes_without(Session& session,
                                                      const std::string& projection);

/// Returns the names of the nodes that lack an optional index of the schema bsky.
std::vector<std::string> nodes_without_index(Session& session, const std::string& index);

/// Copies the numbers of new collections from the nodes.
void refresh_collections(Session& session);

/// Throws NodeError if a node has another schema than this program, or cannot be reached.
void require_migrated_nodes(Session& session, const Schema& schema);

/// Returns SQL, such as a file of the schema or a question, for a query database. It replaces what
/// postgres_fdw does not send to a node, because with each of these, the question would read whole
/// tables:
/// - expressions by the columns of skua.computed_column,
/// - `a.active IS NOT FALSE` by IS DISTINCT FROM,
/// - a comparison with `now() - interval '...'` by one with a subquery, whose value is sent,
/// - a join with a projection by a lateral one, because PostgreSQL sends the condition of another
///   join to no subquery with GROUP BY. It is an aggregate, because PostgreSQL then leaves the join
///   out if the question uses no column of it.
std::string for_query_database(const std::string& sql);

/// Returns a question as this database needs it.
std::string for_database(Session& session, const std::string& sql);

// The following functions need an open transaction.

/// Drops the views that a query database reads. Returns whether this database is a node with such
/// views.
bool hide_ranges(Session& session);
/// Makes the views that a query database reads.
void show_ranges(Session& session);

/// Throws NodeError if this role cannot create what a query database needs.
void require_foreign_tables(Session& session);
/// Replaces the empty tables of records by tables that nodes can be connected to, and applies all
/// definitions of the schema. Throws MigrationError.
void divide_tables(Session& session, const Schema& schema);
/// Lets PostgreSQL send joins to the nodes, in new sessions. Each connection of a node does this,
/// but a restored database lacks the settings.
void join_on_nodes(Session& session);
/// Drops the connections of all tables to nodes.
void disconnect_nodes(Session& session);
/// Connects the tables to one node, and drops its former connections. The node need not answer.
void connect_node(Session& session, const Node& node);
/// Connects the tables to all nodes of skua.nodes.
void connect_nodes(Session& session);

}  // namespace skua::postgres
