#include <fmt/format.h>

#include "commands.hpp"
#include "database_choice.hpp"
#include "store/migrations.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {

int migrate(const Settings& settings, const std::optional<std::string>& database) {
  const std::string url = require_database(settings, database);
  store::Session session(url, store::process_name("skua migrate"));
  const auto applied = store::migrate(session, store::migrations());
  for (const auto& migration : applied) fmt::print("applied {}\n", migration.label());
  if (applied.empty()) fmt::print("nothing to do: the schema is up to date\n");
  return kSuccess;
}

}  // namespace skua::cli
