#pragma once

#include <span>
#include <string_view>

namespace skua::consumers {

struct EmbeddedFile {
  /// The file name without `.sql`.
  std::string_view name;
  std::string_view text;
};

/// Returns the SQL files of libs/feeds/consumers/projections, sorted by name. The build generates
/// this function (embed_projections.cmake).
std::span<const EmbeddedFile> embedded_projections();

}  // namespace skua::consumers
