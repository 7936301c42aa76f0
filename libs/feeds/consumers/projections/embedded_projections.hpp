#pragma once

#include <span>
#include <string_view>

namespace skua::consumers {

struct EmbeddedFile {
  /// Without `.sql`.
  std::string_view name;
  std::string_view text;
};

/// The SQL files of libs/feeds/consumers/projections, by name. The build makes this function
/// (embed_projections.cmake).
std::span<const EmbeddedFile> embedded_projections();

}  // namespace skua::consumers
