#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/pfr/core.hpp>

#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "postgres/parameters.hpp"

namespace skua::postgres {

/// The result of a statement, in text form. Owns its data, and lives on the session's thread.
/// Accessors throw std::out_of_range for a row or column that does not exist, and
/// std::invalid_argument for a null or for a text that is not of the requested type.
class Rows {
 public:
  class Impl;
  explicit Rows(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  std::size_t affected() const;
  std::size_t columns() const;
  /// Returns the name of a column, which is valid as long as the Rows. Throws std::out_of_range.
  std::string_view column_name(std::size_t column) const;
  /// Returns the type of a column. Throws std::out_of_range.
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
  /// Reads a column of type timestamptz.
  Timestamp timestamp(std::size_t row, std::size_t column) const;

 private:
  std::shared_ptr<const Impl> impl_;
};

/// These functions read the rows of an answer as structs, whose fields are the columns in their
/// order.

/// The C++ types that a column can have, as groups of types of PostgreSQL.
enum class ColumnKind : std::uint8_t { Int2, Int4, Int8, Boolean, Real, Text, Bytes, Time };

/// Throws DefectError unless the column can be read as `kind`. Such a column is an integer of at
/// most that size, a number with a fraction, or a timestamptz. For Text it is a type whose text
/// form needs no conversion.
void check_column(const Rows& rows, std::size_t column, ColumnKind kind);
/// Throws DefectError unless the answer has `count` columns.
void check_column_count(const Rows& rows, std::size_t count);

namespace detail {

template <class T>
struct Field;

// clang-format off
template <> struct Field<std::int16_t> {
  static constexpr ColumnKind kKind = ColumnKind::Int2;
  static std::int16_t read(const Rows& rows, std::size_t row, std::size_t column) { return rows.int2(row, column); }
};
template <> struct Field<std::int32_t> {
  static constexpr ColumnKind kKind = ColumnKind::Int4;
  static std::int32_t read(const Rows& rows, std::size_t row, std::size_t column) { return rows.int4(row, column); }
};
template <> struct Field<std::int64_t> {
  static constexpr ColumnKind kKind = ColumnKind::Int8;
  static std::int64_t read(const Rows& rows, std::size_t row, std::size_t column) { return rows.int8(row, column); }
};
template <> struct Field<bool> {
  static constexpr ColumnKind kKind = ColumnKind::Boolean;
  static bool read(const Rows& rows, std::size_t row, std::size_t column) { return rows.boolean(row, column); }
};
template <> struct Field<double> {
  static constexpr ColumnKind kKind = ColumnKind::Real;
  static double read(const Rows& rows, std::size_t row, std::size_t column) { return rows.real(row, column); }
};
template <> struct Field<std::string> {
  static constexpr ColumnKind kKind = ColumnKind::Text;
  static std::string read(const Rows& rows, std::size_t row, std::size_t column) { return std::string(rows.text(row, column)); }
};
template <> struct Field<Bytes> {
  static constexpr ColumnKind kKind = ColumnKind::Bytes;
  static Bytes read(const Rows& rows, std::size_t row, std::size_t column) { return rows.bytea(row, column); }
};
template <> struct Field<Timestamp> {
  static constexpr ColumnKind kKind = ColumnKind::Time;
  static Timestamp read(const Rows& rows, std::size_t row, std::size_t column) { return rows.timestamp(row, column); }
};
// clang-format on

/// A TID is an int8.
template <>
struct Field<atproto::Tid> {
  static constexpr ColumnKind kKind = ColumnKind::Int8;
  static atproto::Tid read(const Rows& rows, std::size_t row, std::size_t column) {
    return {static_cast<std::uint64_t>(rows.int8(row, column))};
  }
};

/// A field of a fixed number of bytes, such as a digest.
template <std::size_t Size>
struct Field<std::array<std::uint8_t, Size>> {
  static constexpr ColumnKind kKind = ColumnKind::Bytes;
  static std::array<std::uint8_t, Size> read(const Rows& rows, std::size_t row,
                                             std::size_t column) {
    const Bytes bytes = rows.bytea(row, column);
    if (bytes.size() != Size) throw std::invalid_argument("the answer has another number of bytes");
    std::array<std::uint8_t, Size> read{};
    std::ranges::copy(bytes, read.begin());
    return read;
  }
};

/// A duration is an int8 in its own unit.
template <class Rep, class Period>
struct Field<std::chrono::duration<Rep, Period>> {
  static constexpr ColumnKind kKind = ColumnKind::Int8;
  static std::chrono::duration<Rep, Period> read(const Rows& rows, std::size_t row,
                                                 std::size_t column) {
    return std::chrono::duration<Rep, Period>(rows.int8(row, column));
  }
};

template <class T>
struct Field<std::optional<T>> {
  static constexpr ColumnKind kKind = Field<T>::kKind;
  static std::optional<T> read(const Rows& rows, std::size_t row, std::size_t column) {
    if (rows.is_null(row, column)) return std::nullopt;
    return Field<T>::read(rows, row, column);
  }
};

template <class T>
concept IsField = requires {
  Field<T>::kKind;
};

template <class Row, std::size_t... Columns>
void check_fields(const Rows& rows, std::index_sequence<Columns...>) {
  check_column_count(rows, sizeof...(Columns));
  (check_column(rows, Columns, Field<boost::pfr::tuple_element_t<Columns, Row>>::kKind), ...);
}

template <class Row, std::size_t... Columns>
Row read_fields(const Rows& rows, std::size_t row, std::index_sequence<Columns...>) {
  return Row{Field<boost::pfr::tuple_element_t<Columns, Row>>::read(rows, row, Columns)...};
}

}  // namespace detail

/// Returns the rows as values of `Row`: a struct with a field for each column, or for one column
/// the type of a field. A field is an integer, Tid, bool, double, std::string, Bytes, an array of
/// bytes, Timestamp, a duration (an int8 in its unit), or std::optional of one of them, which can
/// be null. Throws DefectError if the number or the types of the columns differ, and
/// std::invalid_argument for a null in a field that is not optional.
template <class Row>
std::vector<Row> rows_of(const Rows& rows) {
  std::vector<Row> read;
  read.reserve(rows.size());
  if constexpr (detail::IsField<Row>) {
    check_column_count(rows, 1);
    check_column(rows, 0, detail::Field<Row>::kKind);
    for (std::size_t i = 0; i < rows.size(); ++i)
      read.push_back(detail::Field<Row>::read(rows, i, 0));
  } else {
    constexpr auto kColumns = std::make_index_sequence<boost::pfr::tuple_size_v<Row>>{};
    detail::check_fields<Row>(rows, kColumns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      read.push_back(detail::read_fields<Row>(rows, i, kColumns));
    }
  }
  return read;
}

}  // namespace skua::postgres
