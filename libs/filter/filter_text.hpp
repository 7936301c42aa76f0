#pragma once

#include <string>

#include "store/filter_table.hpp"

namespace skua::filter {

/// What a filter lets through, for people: "app.bsky.feed.post of all accounts". Of many names the
/// first ten.
std::string filter_text(const store::FilterContent& content);

/// What a change added and took away, on a line: "+ app.bsky.graph.*, - did:plc:...".
std::string change_text(const store::FilterChange& change);

}  // namespace skua::filter
