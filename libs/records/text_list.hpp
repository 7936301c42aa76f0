#pragma once

#include <string_view>
#include <vector>

namespace skua::records {

/// Texts of a list, in the record's order. Views into the record's block. Members of this type are
/// optional: a list that is absent is another thing than an empty one.
using TextList = std::vector<std::string_view>;

}  // namespace skua::records
