#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http_server/server.hpp"

namespace skua::pages {

/// A file of the dashboard. The build embeds the files (embed_assets.cmake).
struct Asset {
  std::string_view path;
  std::string_view content_type;
  std::string_view text;
};

/// Returns the files of `/`: the page, its style, scripts and icons, and the library for charts.
/// The scripts read `/metrics`, `/health/ready`, `/status`, `/latest` and `/history`, and post to
/// `/admin`.
std::span<const Asset> dashboard_assets();

/// Adds the files to a server. `command` is the name of the command: `run`, `serve`,
/// `serve --consumers`, `consumers`, or `serve (nodes)` with a query database. The dashboard shows
/// the parts that this command has.
void add_dashboard(http_server::Server::Routes& routes, const std::string& command);

}  // namespace skua::pages
