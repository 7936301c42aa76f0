#include "migrate_arguments.hpp"

#include "commands.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {

MigrateArguments::MigrateArguments(CLI::App& app)
    : migrate_(app.add_subcommand("migrate", "Bring the database's schema up to date")) {
  add_database_option(migrate_, database_);
  migrate_->footer("Example:\n  skua migrate --database postgresql://localhost/skua");
}

std::optional<int> MigrateArguments::run(const Settings& settings) const {
  if (!*migrate_) return std::nullopt;
  return migrate(settings, database_);
}

}  // namespace skua::cli
