#include "pages/dashboard.hpp"

#include <chrono>
#include <memory>

#include "http_server/exchange.hpp"

namespace skua::pages {
namespace {

using http_server::Response;

/// The dashboard has this placeholder for the name of the command.
constexpr std::string_view kCommand = "@command@";

Response asset_response(const Asset& asset, std::string_view command) {
  Response response{.content_type = std::string(asset.content_type),
                    .body = std::string(asset.text)};
  std::string& body = response.body;
  for (auto at = body.find(kCommand); at != std::string::npos; at = body.find(kCommand, at)) {
    body.replace(at, kCommand.size(), command);
  }
  // The icons may be cached, because the dashboard changes its icon when the process has ended and
  // must have the icon by then.
  if (asset.path.ends_with(".svg")) response.max_age = std::chrono::hours(1);
  return response;
}

}  // namespace

void add_dashboard(http_server::Server::Routes& routes, const std::string& command) {
  for (const Asset& asset : dashboard_assets()) {
    routes[std::string(asset.path)] = {
        http_server::Method::Get,
        [&asset, command](const std::shared_ptr<http_server::Exchange>& exchange) {
          exchange->answer(asset_response(asset, command));
        }};
  }
}

}  // namespace skua::pages
