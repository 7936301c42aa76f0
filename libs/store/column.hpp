#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string_view>
#include <type_traits>

#include "atproto/tid.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"
#include "store/values.hpp"

/// Makes an Array, one column of a batch, of the members of a range of structs.
namespace skua::store {
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

/// An array with `member` of each item: a pointer to a member, or a function. The items may be
/// pointers. The type of the
/// member is an integer, Tid, bool, Timestamp, text, bytes, or std::optional of one of them; an
/// absent one is null.
template <std::ranges::input_range Range, class Member = std::identity>
Array column(const Range& range, Member member = {}) {
  using Item = std::remove_cvref_t<
      std::invoke_result_t<Member&, std::ranges::range_reference_t<const Range>>>;
  Array array(detail::item_type<typename detail::Unwrapped<Item>::Type>());
  for (const auto& item : range) detail::append_item<Item>(array, std::invoke(member, item));
  return array;
}

}  // namespace skua::store
