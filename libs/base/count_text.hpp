#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skua {

/// The noun in the form that the count needs: "frame" for 1, "frames" for every other count. Knows
/// the regular English plurals: "repositories", "indexes", "rows".
std::string noun_for(std::int64_t count, std::string_view noun);

/// A count with its noun: "1 frame", "2 frames", "0 repositories".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace skua
