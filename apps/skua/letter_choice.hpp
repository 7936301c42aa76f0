#pragma once

#include <cstdint>
#include <vector>

#include "dead_letters.hpp"
#include "store/dead_letter_table.hpp"

namespace skua::cli {

/// The letters that the arguments of `skua dead-letters` select. Throws UsageError for a number,
/// DID, status or duration that is malformed.
store::LetterFilter letter_filter(const DeadLettersFlags& flags);

}  // namespace skua::cli
