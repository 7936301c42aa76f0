#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "store/type_oid.hpp"

namespace skua::store {

/// The result of a statement, in text form. Owns its data, and lives on the session's thread.
/// Accessors throw std::out_of_range for a row or column that does not exist, and
/// std::invalid_argument for a text that is not of the requested type, null included.
class Rows {
 public:
  class Impl;
  explicit Rows(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  std::size_t affected() const;
  std::size_t columns() const;
  /// Throws std::out_of_range. Valid as long as the Rows.
  std::string_view column_name(std::size_t column) const;
  /// The type of a column. Throws std::out_of_range.
  TypeOid column_type(std::size_t column) const;
  bool is_null(std::size_t row, std::size_t column) const;
  std::string_view text(std::size_t row, std::size_t column) const;
  std::optional<std::string> text_or_null(std::size_t row, std::size_t column) const;
  std::int16_t int2(std::size_t row, std::size_t column) const;
  std::int32_t int4(std::size_t row, std::size_t column) const;
  std::int64_t int8(std::size_t row, std::size_t column) const;
  Bytes bytea(std::size_t row, std::size_t column) const;
  bool boolean(std::size_t row, std::size_t column) const;
  double real(std::size_t row, std::size_t column) const;
  /// Of a column of type timestamptz.
  Timestamp timestamp(std::size_t row, std::size_t column) const;

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace skua::store
