#pragma once

#include <cstdint>
#include <string>

namespace skua {

/// 1234567: `1,234,567`.
std::string with_commas(std::int64_t number);

}  // namespace skua
