#include "admin_choice.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "http_server/server.hpp"

namespace skua::cli {

admin::AdminApi::Options admin_options(const Settings& settings,
                                       const std::optional<std::string>& flag,
                                       const std::string& database_url) {
  admin::AdminApi::Options options;
  options.database_url = database_url;
  options.guard.setting =
      fmt::format("the setting {} ({})", kAdminTokenFile.flag, kAdminTokenFile.environment);
  options.on_defect = [](const std::string& what) {
    logger("admin")->error("the admin API ends, the process continues: {}", what);
  };
  const auto file = settings.find(kAdminTokenFile, flag);
  if (!file) return options;
  try {
    options.guard.token = admin::Token::read(file->value);
  } catch (const admin::TokenError& error) {
    throw UsageError(fmt::format("{}: {}", file->origin, error.what()));
  }
  return options;
}

void warn_of_plain_token(const admin::AdminApi& api, const std::string& address) {
  if (!api.is_enabled() || http_server::is_loopback(address)) return;
  logger("admin")->warn(
      "{} is not a loopback address: clients send the admin token without TLS, so a reverse proxy "
      "with TLS must be in front of it",
      address);
}

}  // namespace skua::cli
