#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "store/migrations.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

/// What was done, in one line. `applied` is in the order of the versions.
std::string summary(const std::vector<store::Migration>& applied) {
  if (applied.empty()) return "nothing to do: the schema is up to date";
  const int version = applied.back().version;
  if (applied.front().version == 1) return fmt::format("the schema is new: version {}", version);
  std::vector<std::string> labels;
  labels.reserve(applied.size());
  for (const auto& migration : applied) labels.push_back(migration.label());
  return fmt::format("applied {}: {}", counted(applied.size(), "migration"),
                     fmt::join(labels, ", "));
}

}  // namespace

int migrate(const Settings& settings, const MigrateFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  store::Session session(url, store::process_name("skua migrate"));
  const auto applied = store::migrate(session, store::migrations());
  if (flags.verbose) {
    for (const auto& migration : applied) fmt::print("applied {}\n", migration.label());
  }
  fmt::print("{}\n", summary(applied));
  return kSuccess;
}

}  // namespace skua::cli
