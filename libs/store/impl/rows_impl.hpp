#pragma once

#include <cstddef>
#include <stdexcept>

#include <pqxx/pqxx>

#include "store/rows.hpp"

namespace skua::store {

class Rows::Impl {
 public:
  explicit Impl(const pqxx::result& rows) : result(rows) {}
  pqxx::result result;

  pqxx::field at(std::size_t row, std::size_t column) const {
    // The types of the sizes differ between libpqxx 6 and 7.
    if (row >= static_cast<std::size_t>(result.size()) ||
        column >= static_cast<std::size_t>(result.columns())) {
      throw std::out_of_range("no such row or column in the answer");
    }
    return result[static_cast<pqxx::result::size_type>(row)]
                 [static_cast<pqxx::row::size_type>(column)];
  }
};

}  // namespace skua::store
