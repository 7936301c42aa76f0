#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/rows.hpp"

namespace skua::store {

/// The texts of the first column. None of them is null.
inline std::vector<std::string> first_column(const Rows& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) texts.emplace_back(rows.text(i, 0));
  return texts;
}

}  // namespace skua::store
