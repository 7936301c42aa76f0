#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "store/type_oid.hpp"

namespace skua::store {

/// Values in PostgreSQL's binary form, one after another: the items of an Array, or the fields of
/// CopyRows. Thus a table declares once, for both, how its columns derive from a record.
class Values {
 public:
  void int2(std::int16_t value);
  void int4(std::int32_t value);
  void int8(std::int64_t value);
  void boolean(bool value);
  /// NUL is removed, because PostgreSQL cannot store it, and counted.
  void text(std::string_view value);
  void bytea(ByteView value);
  void timestamp(Timestamp value);
  /// JSON text for a column of type jsonb. In an array it is text, and the statement casts it.
  void json(std::string_view value);
  /// One value of type text[]. In an array it is text, and the statement casts it.
  void text_list(std::span<const std::string_view> value);
  /// The same of type int8[].
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
  /// Sets the length of the value that was appended from `start` on; `start` is the position of its
  /// length field.
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
  /// The binary form: header and items.
  std::string encode() const;

 private:
  Type type_;
};

/// The rows of one binary COPY, in memory: `row`, then its fields in the order of the columns.
class CopyRows : public Values {
 public:
  /// `columns`: the number of fields of each row.
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

/// An array literal such as `{"en","ja"}`, for one value of type text[]. It keeps NULs: `text` of
/// Values and Params removes and counts them.
std::string text_array_literal(std::span<const std::string_view> items);

}  // namespace skua::store
