#pragma once

#include <string>
#include <vector>

#include "top/line.hpp"

namespace skua::top {

/// The bytes that change a terminal from one content to another: ECMA-48 sequences, which all
/// terminals of today know. Only lines that differ are sent. Pure.
///
/// The place of each text is sent after a text beyond ASCII: a terminal may draw that one wider or
/// narrower than expected.
std::string screen_text(const std::vector<Line>& before, const std::vector<Line>& after,
                        bool has_colours);

/// The same for an unknown content: it is erased first.
std::string whole_screen_text(const std::vector<Line>& lines, bool has_colours);

}  // namespace skua::top
