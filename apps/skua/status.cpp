#include "status/status.hpp"

#include <fmt/format.h>

#include "app/database.hpp"
#include "commands.hpp"
#include "database_choice.hpp"

namespace skua::cli {

int status(const Settings& settings, const StatusFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  const nlohmann::json status = status::read_status(url, system_clock());
  fmt::print("{}", flags.json ? status.dump(2) + "\n" : status::status_text(status));
  return kSuccess;
}

}  // namespace skua::cli
