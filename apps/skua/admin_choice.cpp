#include "admin_choice.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "http_server/server.hpp"
#include "settings.hpp"

namespace skua::cli {

admin::AdminApi::Options admin_options(const Invocation& invocation,
                                       const std::string& database_url) {
  admin::AdminApi::Options options;
  options.database_url = database_url;
  options.guard.setting =
      fmt::format("the setting {} ({})", kAdminTokenFile.name, kAdminTokenFile.environment);
  options.on_defect = [](const std::string& what) {
    logger("admin")->error("the admin API ends, the process continues: {}", what);
  };
  const auto file = invocation[kAdminTokenFile];
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
