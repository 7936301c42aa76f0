#pragma once

#include <string>
#include <vector>

#include "postgres/session.hpp"

namespace skua::app {

/// Sends the references that wait in the database of a node to the other nodes
/// (ids::ReferenceSender), for a process that ends. Returns a text for the user for each node that
/// did not get all of them. Does nothing in a database that is no node. Blocks. Throws
/// postgres::SqlError.
std::vector<std::string> send_references(postgres::Session& session,
                                         const std::string& database_url);

}  // namespace skua::app
