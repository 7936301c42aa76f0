#pragma once

#include <string>

#include "store/filter_table.hpp"

namespace skua::filter {

/// The filter for users: "app.bsky.feed.post of all accounts". Shows the first ten of many names.
std::string filter_text(const store::FilterContent& content);

/// The added and removed names of a change, on a line: "+ app.bsky.graph.*, - did:plc:...".
std::string change_text(const store::FilterChange& change);

}  // namespace skua::filter
