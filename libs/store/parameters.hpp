#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "store/column.hpp"
#include "store/type_oid.hpp"
#include "store/values.hpp"

namespace skua::store {

/// The parameters of one statement, in order. The server determines the type of each parameter from
/// the statement; the session throws DefectError if the value here has another type. A null without
/// a type fits each of them.
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

  /// The C++ type determines which of the functions above is called.
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
  /// An array. Bytes are a range, too, but one value.
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

}  // namespace skua::store
