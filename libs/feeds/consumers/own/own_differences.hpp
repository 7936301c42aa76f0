#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace skua::consumers {

/// Returns a SELECT of texts for the rows by which the SELECT `stored` differs from the SELECT
/// `wanted`, at most ten. Pure.
inline std::string own_differences(std::string_view table, std::string_view wanted,
                                   std::string_view stored) {
  return fmt::format(
      "(SELECT '{0}: missing ' || d::text FROM ({1} EXCEPT ALL {2}) AS d\n"
      "UNION ALL SELECT '{0}: not wanted ' || d::text FROM ({2} EXCEPT ALL {1}) AS d)\nLIMIT 10",
      table, wanted, stored);
}

}  // namespace skua::consumers
