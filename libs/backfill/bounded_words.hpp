#pragma once

#include <string>
#include <string_view>

namespace skua::backfill {

/// The beginning of an error's words, 500 characters at most, without control characters: a host
/// may answer with a whole page, and tables keep what it says.
std::string bounded_words(std::string_view words);

}  // namespace skua::backfill
