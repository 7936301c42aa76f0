#include "admin/guard.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "http_server/server.hpp"

namespace skua::admin {

std::optional<http_server::Response> Guard::refusal(const http_server::Request& request) {
  using http_server::error_response;
  if (!options_.token) {
    return error_response(
        401, "AdminDisabled",
        fmt::format("the admin API is not enabled: {} names the file of its token",
                    options_.setting));
  }
  const auto now = options_.clock.now();
  const std::string address = http_server::counted_address(request.address);
  if (wrong_.is_refused(address, now)) {
    return error_response(429, "TooManyWrongTokens",
                          fmt::format("this address has sent {} wrong tokens: wait {} seconds",
                                      WrongTokens::kAllowed, WrongTokens::kWindow.count()));
  }
  const auto token = http_server::bearer_token(request.authorization);
  if (!token) {
    return error_response(401, "Unauthorized",
                          "the header Authorization must be `Bearer TOKEN` with the admin token");
  }
  if (options_.token->matches(*token)) return std::nullopt;
  wrong_.add(address, now);
  logger("admin")->warn("{}: wrong token", request.address);
  return error_response(401, "Unauthorized", "the admin token is wrong");
}

}  // namespace skua::admin
