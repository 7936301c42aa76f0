#pragma once

#include <string_view>

#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// The fault of a text that does not have the format, such as "not a DID"; null: it has it.
const char* format_fault(std::string_view text, Format format);

}  // namespace skua::lexicon
