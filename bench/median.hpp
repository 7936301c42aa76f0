#pragma once

#include <algorithm>
#include <limits>
#include <vector>

namespace skua::bench {

/// The middle value; of no values, not a number.
inline double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace skua::bench
