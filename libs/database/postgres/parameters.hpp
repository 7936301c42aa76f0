#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"

namespace skua::postgres {

/// These functions write values in PostgreSQL's binary formats (the send and receive functions of
/// its types).

/// PostgreSQL counts microseconds from 2000-01-01.
inline constexpr std::int64_t kPostgresEpoch =
    std::chrono::microseconds(
        std::chrono::sys_days(std::chrono::year(2000) / 1 / 1).time_since_epoch())
        .count();

template <class T>
std::array<char, sizeof(T)> big_endian(T value) {
  std::array<char, sizeof(T)> bytes{};
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[i] = static_cast<char>(value >> (8 * (sizeof(T) - 1 - i)));
  }
  return bytes;
}

template <class T>
void append(std::string& out, T value) {
  const auto bytes = big_endian(value);
  out.append(bytes.data(), bytes.size());
}

/// Appends the length and the bytes of one array item.
template <class T>
void append_item(std::string& out, T value) {
  std::array<char, 4 + sizeof(T)> item{};
  const auto length = big_endian(static_cast<std::uint32_t>(sizeof(T)));
  const auto bytes = big_endian(value);
  std::memcpy(item.data(), length.data(), length.size());
  std::memcpy(item.data() + length.size(), bytes.data(), bytes.size());
  out.append(item.data(), item.size());
}

/// Appends `text` without its NULs, and returns the number of removed NULs.
inline std::size_t append_without_nuls(std::string& out, std::string_view text) {
  std::size_t removed = 0;
  while (!text.empty()) {
    const std::size_t nul = text.find('\0');
    out.append(text.substr(0, nul));
    if (nul == std::string_view::npos) break;
    ++removed;
    text.remove_prefix(nul + 1);
  }
  return removed;
}

inline std::uint64_t postgres_time(Timestamp value) {
  return static_cast<std::uint64_t>(value.time_since_epoch().count() - kPostgresEpoch);
}

/// The OIDs of PostgreSQL's types (pg_type), which are constant.

using TypeOid = std::uint32_t;

namespace oid {
inline constexpr TypeOid kUnknown = 0;
inline constexpr TypeOid kBool = 16;
inline constexpr TypeOid kBytea = 17;
inline constexpr TypeOid kChar = 18;
inline constexpr TypeOid kName = 19;
inline constexpr TypeOid kInt8 = 20;
inline constexpr TypeOid kInt2 = 21;
inline constexpr TypeOid kInt4 = 23;
inline constexpr TypeOid kText = 25;
inline constexpr TypeOid kOid = 26;
inline constexpr TypeOid kJson = 114;
inline constexpr TypeOid kFloat4 = 700;
inline constexpr TypeOid kFloat8 = 701;
inline constexpr TypeOid kBoolArray = 1000;
inline constexpr TypeOid kByteaArray = 1001;
inline constexpr TypeOid kInt2Array = 1005;
inline constexpr TypeOid kInt4Array = 1007;
inline constexpr TypeOid kTextArray = 1009;
inline constexpr TypeOid kInt8Array = 1016;
inline constexpr TypeOid kVarchar = 1043;
inline constexpr TypeOid kTimestamptz = 1184;
inline constexpr TypeOid kTimestamptzArray = 1185;
inline constexpr TypeOid kJsonb = 3802;
}  // namespace oid

/// Returns the name of a type for a message, or its number.
std::string type_name(TypeOid oid);

/// Values in PostgreSQL's binary form, one after another: the items of an Array, or the fields of
/// CopyRows. So a table declares only once, for both forms, how its columns derive from a record.
class Values {
 public:
  void int2(std::int16_t value);
  void int4(std::int32_t value);
  void int8(std::int64_t value);
  void boolean(bool value);
  /// Appends a text. NULs are removed, because PostgreSQL cannot store them, and counted.
  void text(std::string_view value);
  void bytea(ByteView value);
  void timestamp(Timestamp value);
  /// Appends JSON text for a column of type jsonb. In an array it is text, and the statement casts
  /// it.
  void json(std::string_view value);
  /// Appends one value of type text[]. In an array it is text, and the statement casts it.
  void text_list(std::span<const std::string_view> value);
  /// Appends one value of type int8[]. In an array it is text, and the statement casts it.
  void int8_list(std::span<const std::int64_t> value);
  void null();

  std::size_t nuls_removed() const { return nuls_removed_; }

 protected:
  enum class Form : std::uint8_t { Array, Copy };
  explicit Values(Form form) : form_(form) {}

  const std::string& encoded() const { return encoded_; }
  std::size_t count() const { return count_; }
  bool has_nulls() const { return has_nulls_; }
  std::string& raw() { return encoded_; }

 private:
  /// Sets the length of the value that begins at `start`. The length field is at `start`.
  void set_length(std::size_t start);

  Form form_;
  bool has_nulls_ = false;
  std::size_t count_ = 0;
  std::size_t nuls_removed_ = 0;
  std::string encoded_;
};

/// One column of a batch: a PostgreSQL array in binary form, for `unnest($n::type[])`.
class Array : public Values {
 public:
  enum class Type : std::uint8_t { int2, int4, int8, boolean, text, bytea, timestamptz };

  explicit Array(Type type) : Values(Form::Array), type_(type) {}

  Type type() const { return type_; }
  TypeOid item_type() const;
  TypeOid array_type() const;
  std::size_t size() const { return count(); }
  /// Returns the binary form: header and items.
  std::string encode() const;

 private:
  Type type_;
};

/// The rows of one binary COPY, in memory. Each row is a call of `row` and then its fields in the
/// order of the columns.
class CopyRows : public Values {
 public:
  /// `columns` is the number of fields of each row.
  explicit CopyRows(std::size_t columns) : Values(Form::Copy), columns_(columns) {}

  /// Begins a row.
  void row();
  std::size_t rows() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  std::size_t bytes() const { return encoded().size(); }

 private:
  friend class Session;
  std::size_t columns_;
  std::size_t rows_ = 0;
};

/// Returns an array literal such as `{"en","ja"}`, for one value of type text[]. The literal keeps
/// NULs, which `text` of Values and Params removes and counts.
std::string text_array_literal(std::span<const std::string_view> items);

/// These functions make an Array, one column of a batch, from a range of structs.

namespace detail {

template <class T>
struct Unwrapped {
  using Type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using Type = T;
};

template <class T>
constexpr Array::Type item_type() {
  if constexpr (std::same_as<T, bool>) {
    return Array::Type::boolean;
  } else if constexpr (std::same_as<T, std::int16_t>) {
    return Array::Type::int2;
  } else if constexpr (std::same_as<T, std::int32_t>) {
    return Array::Type::int4;
  } else if constexpr (std::same_as<T, std::int64_t> || std::same_as<T, atproto::Tid>) {
    return Array::Type::int8;
  } else if constexpr (std::same_as<T, Timestamp>) {
    return Array::Type::timestamptz;
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return Array::Type::text;
  } else {
    static_assert(std::convertible_to<T, ByteView>, "an array has no items of this type");
    return Array::Type::bytea;
  }
}

template <class T>
void append_item(Array& array, const T& item) {
  if constexpr (!std::same_as<typename Unwrapped<T>::Type, T>) {
    if (item) {
      append_item(array, *item);
    } else {
      array.null();
    }
  } else if constexpr (std::same_as<T, atproto::Tid>) {
    array.int8(static_cast<std::int64_t>(item.value));
  } else if constexpr (item_type<T>() == Array::Type::boolean) {
    array.boolean(item);
  } else if constexpr (item_type<T>() == Array::Type::int2) {
    array.int2(item);
  } else if constexpr (item_type<T>() == Array::Type::int4) {
    array.int4(item);
  } else if constexpr (item_type<T>() == Array::Type::int8) {
    array.int8(item);
  } else if constexpr (item_type<T>() == Array::Type::timestamptz) {
    array.timestamp(item);
  } else if constexpr (item_type<T>() == Array::Type::text) {
    array.text(item);
  } else {
    array.bytea(item);
  }
}

}  // namespace detail

/// Makes an array of `member` of each item. `member` is a pointer to a member, or a function. The
/// items may be pointers. The type of the member is an integer, Tid, bool, Timestamp, text, bytes,
/// or std::optional of one of them; an absent value is null.
template <std::ranges::input_range Range, class Member = std::identity>
Array column(const Range& range, Member member = {}) {
  using Item = std::remove_cvref_t<
      std::invoke_result_t<Member&, std::ranges::range_reference_t<const Range>>>;
  Array array(detail::item_type<typename detail::Unwrapped<Item>::Type>());
  for (const auto& item : range) detail::append_item<Item>(array, std::invoke(member, item));
  return array;
}

/// The parameters of one statement, in order. The server determines the type of each parameter from
/// the statement, and the session throws DefectError if a value has another type. A null without a
/// type fits each type.
class Params {
 public:
  Params& int2(std::int16_t value);
  Params& int4(std::int32_t value);
  Params& int8(std::int64_t value);
  Params& boolean(bool value);
  Params& real(double value);
  Params& text(std::string_view value);
  Params& bytea(ByteView value);
  Params& timestamp(Timestamp value);
  Params& null();
  Params& array(const Array& values);

  /// Overloads of `add` select the function for the C++ type.
  void add(std::int16_t value) { int2(value); }
  void add(std::int32_t value) { int4(value); }
  void add(std::int64_t value) { int8(value); }
  void add(std::size_t value) { int8(static_cast<std::int64_t>(value)); }
  /// A duration is an int8 in its own unit.
  template <class Rep, class Period>
  void add(std::chrono::duration<Rep, Period> value) {
    int8(value.count());
  }
  void add(bool value) { boolean(value); }
  void add(atproto::Tid value) { int8(static_cast<std::int64_t>(value.value)); }
  void add(double value) { real(value); }
  void add(const char* value) { text(value); }
  void add(std::string_view value) { text(value); }
  void add(const std::string& value) { text(value); }
  void add(ByteView value) { bytea(value); }
  void add(Timestamp value) { timestamp(value); }
  void add(const Array& value) { array(value); }
  void add(std::nullopt_t) { null(); }
  /// Adds an array. Bytes are also a range, but count as one value.
  template <std::ranges::input_range Range>
  requires(!std::convertible_to<const Range&, std::string_view> &&
           !std::convertible_to<const Range&, ByteView>) void add(const Range& items) {
    array(column(items));
  }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      null();
    }
  }

  struct Value {
    bool is_null = false;
    TypeOid type = oid::kUnknown;
    std::string binary;
  };
  const std::vector<Value>& values() const { return values_; }
  std::size_t nuls_removed() const { return nuls_removed_; }

 private:
  std::vector<Value> values_;
  std::size_t nuls_removed_ = 0;
};

/// The parameters $1, $2... of a statement.
template <class... Arguments>
Params params_of(const Arguments&... arguments) {
  Params params;
  (params.add(arguments), ...);
  return params;
}

}  // namespace skua::postgres
