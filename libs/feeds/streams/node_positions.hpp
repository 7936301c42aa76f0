#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "streams/change_event.hpp"

namespace skua::streams {

/// A position in the change logs of several nodes, by the name of the node. Its text is
/// `east:1-17,west:1-4711`: the cursor of a client of a query database (docs/feeds.md).
using NodePositions = std::map<std::string, Position, std::less<>>;

std::string text_of(const NodePositions& positions);

/// Returns nothing if the text has another form, or a node has two positions.
std::optional<NodePositions> parse_node_positions(std::string_view text);

/// Returns the position or the batch of a node as clients of a query database see it, such as
/// `west:1-4711`. Without a node it stays as it is.
std::string with_node(std::string_view node, std::string_view text);

/// Returns the node, which is empty if there is none, and the rest. The views point into `text`.
std::pair<std::string_view, std::string_view> without_node(std::string_view text);

}  // namespace skua::streams
