#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "store/session.hpp"

namespace skua::writer {

/// A column that a batch brings as an array.
struct BatchColumn {
  std::string name;
  store::Array::Type type;
  /// What turns the array's items into the column's type, such as `::jsonb`; mostly empty.
  std::string cast;
};

/// Appends an item to a list of SQL, after a comma if the list is not empty.
void append_item(std::string& list, const std::string& item);

/// The columns of a batch, as a statement lists them. The parameters of the statement begin with
/// the arrays of these columns, in order. Owned by the function that builds the statement.
struct ColumnLists {
  std::string names;   // a, b
  std::string arrays;  // $1::int4[], $2::text[]
  std::string values;  // u.a, u.b::jsonb
  std::size_t size = 0;

  void append(std::span<const BatchColumn> columns);
};

}  // namespace skua::writer
