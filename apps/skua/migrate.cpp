#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "commands.hpp"
#include "consumers/projections/projection_tables.hpp"
#include "database.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/migrations.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"

namespace skua::cli {
namespace {

const Option<bool> kVerbose({.name = "--verbose",
                             .meaning = "Print each applied file on a line of its own"});

/// Returns the applied changes in one line.
std::string summary(const postgres::SchemaChanges& applied) {
  if (applied.empty()) return "nothing to do: the schema is up to date";
  if (applied.is_new) {
    return fmt::format("the schema is new: version {}", postgres::schema().version());
  }
  std::vector<std::string> names;
  if (applied.migrations.empty()) {
    for (const auto& file : applied.definitions) names.emplace_back(file.name);
    return fmt::format("applied {}: {}", counted(names.size(), "file"), fmt::join(names, ", "));
  }
  for (const auto& migration : applied.migrations) names.push_back(migration.label());
  return fmt::format("applied {}: {}; and all views, functions and rights",
                     counted(names.size(), "migration"), fmt::join(names, ", "));
}

int migrate(const Invocation& invocation) {
  const std::string url = require_database(invocation);
  postgres::Session session(url, postgres::process_name("skua migrate"));
  const auto pending = postgres::pending_changes(session, postgres::schema());
  if (!pending.is_new && pending.migrations.empty()) {
    for (const std::string& view : consumers::restore_views(session)) {
      fmt::print("created {} again, without rows: `skua consumers rebuild` fills it\n", view);
    }
  }
  const postgres::SchemaChanges applied = postgres::migrate(session, postgres::schema());
  if (invocation[kVerbose]) {
    if (applied.is_new) {
      for (const auto& file : postgres::schema().tables) fmt::print("applied {}\n", file.name);
    }
    for (const auto& migration : applied.migrations) fmt::print("applied {}\n", migration.label());
    for (const auto& file : applied.definitions) fmt::print("applied {}\n", file.name);
  }
  fmt::print("{}\n", summary(applied));
  return kSuccess;
}

}  // namespace

CommandSpecs migrate_commands() {
  return {{"migrate", "Bring the database's schema up to date", {kDatabase, kVerbose}, migrate}};
}

}  // namespace skua::cli
