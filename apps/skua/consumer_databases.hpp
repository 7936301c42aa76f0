#pragma once

#include <list>
#include <string>

#include "invocation.hpp"
#include "postgres/session.hpp"

namespace skua::cli {

/// A database whose consumers a command concerns.
struct ConsumerDatabase {
  /// Connects to the database. Throws postgres::SqlError.
  ConsumerDatabase(std::string name_of_node, const std::string& url);

  /// The name of the node; empty if the command concerns one database.
  const std::string node;
  postgres::Session session;

  /// Returns the beginning of a line about this database: `the node west: `, or nothing.
  std::string prefix() const { return node.empty() ? "" : "the node " + node + ": "; }
};

using ConsumerDatabases = std::list<ConsumerDatabase>;

/// What a command does with the databases.
enum class Access { Read, Write };

/// Opens the stated database, or each node if it is a query database, so that there is at least one
/// session. Throws UsageError, postgres::NodeError, postgres::SqlError, and std::runtime_error for
/// another schema.
ConsumerDatabases open_consumers(const Invocation& invocation, Access access);

/// Whether the databases are the nodes of a query database.
bool are_nodes(const ConsumerDatabases& databases);

/// Throws UsageError if the databases are nodes: `option` states a position, and each node has its
/// own positions.
void require_one_log(const ConsumerDatabases& databases, const std::string& option);

}  // namespace skua::cli
