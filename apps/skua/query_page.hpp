#pragma once

#include "http_server/server.hpp"
#include "xrpc/read_requests.hpp"

namespace skua::cli {

/// Adds a path `/query/NAME` for each query of docs/queries.md, which answers with the JSON of
/// `skua query NAME --json`, and the list of queries at `/query`. `requests` must outlive the
/// server.
void add_query_routes(http_server::Server::Routes& routes, xrpc::ReadRequests& requests);

}  // namespace skua::cli
