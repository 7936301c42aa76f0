#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <pqxx/pqxx>

#include "postgres/rows.hpp"

namespace skua::postgres {

/// A result of libpqxx, and the positions of its cells. Each row and field of libpqxx shares the
/// ownership of the result, so making both for each access would cost more than reading the cell.
class Rows::Impl {
 public:
  explicit Impl(const pqxx::result& rows) : result(rows) {
    // The types of the sizes differ between libpqxx 6 and 7.
    const auto row_count = static_cast<std::size_t>(result.size());
    const auto column_count = static_cast<std::size_t>(result.columns());
    cells_.reserve(row_count * column_count);
    auto row = result.begin();
    for (std::size_t i = 0; i < row_count; ++i, ++row) {
      auto field = row->begin();
      for (std::size_t j = 0; j < column_count; ++j, ++field) {
        cells_.push_back(field->is_null() ? std::string_view()
                                          : std::string_view(field->c_str(), field->size()));
      }
    }
  }
  const pqxx::result result;

  /// Returns the text of a cell. A null has no data pointer. Throws std::out_of_range.
  std::string_view at(std::size_t row, std::size_t column) const {
    const auto columns = static_cast<std::size_t>(result.columns());
    if (row >= static_cast<std::size_t>(result.size()) || column >= columns) {
      throw std::out_of_range("no such row or column in the answer");
    }
    return cells_[row * columns + column];
  }

 private:
  std::vector<std::string_view> cells_;
};

}  // namespace skua::postgres
