#pragma once

#include <optional>

#include "filter/filter_watch.hpp"
#include "invocation.hpp"
#include "settings.hpp"

namespace skua::cli {

/// The filter on the command line, of --collection, --did, --list and the file of `file_option`,
/// without the content of the file; nothing: neither names nor a file. Handles are looked up after
/// everything else was checked. Throws UsageError for a name that is neither a collection nor an
/// account, and for a file that is not a filter; std::runtime_error for a handle that does not
/// resolve.
std::optional<filter::FilterChoice> filter_choice(const Invocation& invocation,
                                                  const Option<OptionalText>& file_option);

}  // namespace skua::cli
