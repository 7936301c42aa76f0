#include "database.hpp"

#include "backfill/bootstrap/bootstrap_indexes.hpp"
#include "command_line/finish.hpp"
#include "postgres/connection_string.hpp"
#include "settings.hpp"

namespace skua::cli {

std::string require_database(const Invocation& invocation) {
  return read_database(invocation.require(kDatabase, "postgresql://..."));
}

app::Durability durability(const Invocation& invocation) {
  return invocation[kAllowUnsafeDatabase] ? app::Durability::Any : app::Durability::Needed;
}

postgres::Session open_database(const Invocation& invocation, std::string_view command) {
  const std::string url = require_database(invocation);
  app::check_database(url);
  return {url, postgres::process_name(std::string(command))};
}

postgres::Session open_database_to_read(const Invocation& invocation, std::string_view command) {
  const std::string url = require_database(invocation);
  app::check_database_to_read(url);
  return {url, postgres::process_name(std::string(command))};
}

postgres::Session open_state_to_read(const Invocation& invocation, std::string_view command) {
  const std::string url = require_database(invocation);
  app::check_state_to_read(url);
  return {url, postgres::process_name(std::string(command))};
}

bool can_use_indexes(postgres::Session& session, std::string_view command) {
  if (!backfill::bootstrap_is_open(session)) return true;
  command_line::print_stderr(
      "skua {}: a bootstrap is not finished: `skua backfill --bootstrap` finishes it\n", command);
  return false;
}

}  // namespace skua::cli
