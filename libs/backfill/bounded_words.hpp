#pragma once

#include <string_view>

namespace skua::backfill {

/// The beginning of an error's words, 500 bytes at most and no character cut: a host may answer
/// with a whole page, and tables keep what it says.
std::string_view bounded_words(std::string_view words);

}  // namespace skua::backfill
