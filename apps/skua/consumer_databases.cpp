#include "consumer_databases.hpp"

#include <utility>

#include <fmt/format.h>

#include "app/database.hpp"
#include "database.hpp"
#include "option.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/query_database.hpp"

namespace skua::cli {

namespace {

void check(const std::string& url, Access access) {
  if (access == Access::Read) return app::check_database_to_read(url);
  app::check_database(url);
}

}  // namespace

ConsumerDatabase::ConsumerDatabase(std::string name_of_node, const std::string& url)
    : node(std::move(name_of_node)), session(url, postgres::process_name("skua consumers")) {}

ConsumerDatabases open_consumers(const Invocation& invocation, Access access) {
  const std::string url = require_database(invocation);
  app::check_database_to_read(url);
  ConsumerDatabases databases;
  ConsumerDatabase& stated = databases.emplace_back("", url);
  if (!postgres::is_query_database(stated.session)) {
    check(url, access);
    return databases;
  }
  const auto nodes = postgres::require_nodes(stated.session);
  databases.clear();
  for (const postgres::Node& node : nodes) {
    try {
      check(node.url, access);
      databases.emplace_back(node.name, node.url);
    } catch (const postgres::ServerError& error) {
      throw postgres::NodeError(fmt::format("the node {}: {}", node.name, error.what()));
    }
  }
  return databases;
}

bool are_nodes(const ConsumerDatabases& databases) {
  return !databases.front().node.empty();
}

void require_one_log(const ConsumerDatabases& databases, const std::string& option) {
  if (!are_nodes(databases)) return;
  throw UsageError(option +
                   " states a position, and each node has its own positions: run the command with "
                   "the database of the node");
}

}  // namespace skua::cli
