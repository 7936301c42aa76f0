#pragma once

#include <span>
#include <string_view>

namespace skua::pages {

/// A file of the dashboard. The build embeds them (embed_assets.cmake).
struct Asset {
  std::string_view path;
  std::string_view content_type;
  std::string_view text;
};

/// `/`, its style, scripts and icons, and the library for charts. The scripts read `/metrics`,
/// `/health/ready`, `/status`, `/latest` and `/history`, and post to `/admin`.
std::span<const Asset> dashboard_assets();

}  // namespace skua::pages
