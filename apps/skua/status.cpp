#include <fmt/format.h>

#include "app/database.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "settings.hpp"
#include "status/reports.hpp"

namespace skua::cli {
namespace {

int print_status(const Invocation& invocation) {
  const std::string url = require_database(invocation);
  app::check_database_to_read(url);
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
