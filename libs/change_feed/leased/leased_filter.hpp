#pragma once

#include <string>

#include "change_feed/change_filter.hpp"

namespace skua::change_feed {

/// The filter of a leased consumer, as in `skua.consumers.filter`: a JSON object with the lists
/// `collections`, `dids`, `ops` and `kinds`, or a message for the user.
Checked<ChangeFilter> parse_leased_filter(const std::string& json);

}  // namespace skua::change_feed
