#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "settings.hpp"
#include "store/migrations.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

const Option<bool> kVerbose({.name = "--verbose",
                             .meaning = "Print each migration on a line of its own"});

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

int migrate(const Invocation& invocation) {
  const std::string url = require_database(invocation);
  store::Session session(url, store::process_name("skua migrate"));
  const auto applied = store::migrate(session, store::migrations());
  if (invocation[kVerbose]) {
    for (const auto& migration : applied) fmt::print("applied {}\n", migration.label());
  }
  fmt::print("{}\n", summary(applied));
  return kSuccess;
}

}  // namespace

CommandSpecs migrate_commands() {
  return {{"migrate", "Bring the database's schema up to date", {kDatabase, kVerbose}, migrate}};
}

}  // namespace skua::cli
