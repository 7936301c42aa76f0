#include "streams/node_positions.hpp"

#include <fmt/format.h>

namespace skua::streams {

std::string text_of(const NodePositions& positions) {
  std::string text;
  for (const auto& [node, position] : positions) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", node, position.text());
  }
  return text;
}

std::optional<NodePositions> parse_node_positions(std::string_view text) {
  NodePositions positions;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t colon = part.find(':');
    if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
    const auto position = parse_position(part.substr(colon + 1));
    if (!position) return std::nullopt;
    if (!positions.emplace(part.substr(0, colon), *position).second) return std::nullopt;
    if (comma == std::string_view::npos) return positions;
    text.remove_prefix(comma + 1);
  }
}

std::string with_node(std::string_view node, std::string_view text) {
  return node.empty() ? std::string(text) : fmt::format("{}:{}", node, text);
}

std::pair<std::string_view, std::string_view> without_node(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {{}, text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace skua::streams
