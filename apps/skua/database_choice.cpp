#include "database_choice.hpp"

#include <fmt/format.h>

#include "store/connection_string.hpp"

namespace skua::cli {

std::optional<std::string> find_database(const Settings& settings,
                                         const std::optional<std::string>& flag) {
  const auto found = settings.find(kDatabase, flag);
  if (!found) return std::nullopt;
  if (const auto problem = store::connection_string_problem(found->value)) {
    throw UsageError(fmt::format("{}: '{}': {}; expected postgresql://USER@HOST:PORT/DATABASE",
                                 found->origin, store::without_password(found->value), *problem));
  }
  return found->value;
}

std::string require_database(const Settings& settings, const std::optional<std::string>& flag) {
  settings.require(kDatabase, flag, "postgresql://...");
  return *find_database(settings, flag);
}

app::Durability durability(const Settings& settings, bool allow_unsafe_database) {
  const bool allowed =
      allow_unsafe_database || yes(settings.find(kAllowUnsafeDatabase, std::nullopt));
  return allowed ? app::Durability::Any : app::Durability::Needed;
}

}  // namespace skua::cli
