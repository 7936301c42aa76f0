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
#include "status/network_status.hpp"
#include "status/reports.hpp"

namespace skua::cli {
namespace {

/// Prints the nodes of a query database. All other reports are those of the nodes.
int print_network(postgres::Session& session, bool is_json) {
  const status::NetworkStatus network = status::read_network_status(session);
  if (is_json) {
    fmt::print("{}\n", status::network_json(network).dump(2));
  } else {
    fmt::print("{}", status::network_text(network));
  }
  return kSuccess;
}

int print_status(const Invocation& invocation) {
  const std::string url = require_database(invocation);
  app::check_database_to_read(url);
  {
    postgres::Session session(url, postgres::process_name("skua status"));
    if (postgres::is_query_database(session)) return print_network(session, invocation[kJson]);
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
