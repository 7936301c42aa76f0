#pragma once

#include <cstddef>
#include <cstdint>

#include <cbor.h>

#include "base/bytes.hpp"
#include "repo/cbor_head.hpp"
#include "repo/errc.hpp"

namespace skua::repo {

/// The tag of a CID link (DAG-CBOR specification, "Links").
inline constexpr std::uint64_t kCborLinkTag = 42;
/// The byte that encodes null.
inline constexpr std::uint8_t kCborNull = 0xf6;

/// One data item of CBOR without its children, as libcbor's streaming decoder reports it. Private
/// to the reader. The functions are inline because they run some hundred times a frame.
struct CborItem {
  enum class Type : std::uint8_t {
    unsigned_integer,
    negative_integer,  // -1 - argument
    bytes,
    string,
    list,
    map,
    tag,
    short_float,
    floating,
    boolean,
    null,
    undefined,
    indefinite,  // the start of any value of indefinite length, or a break
  };

  Type type = Type::null;
  /// The value of an integer or tag, the length of bytes, strings, lists and maps, or 0 or 1 for a
  /// boolean.
  std::uint64_t argument = 0;
  const std::uint8_t* data = nullptr;  // bytes and strings
  double floating = 0;
  /// False if the argument has more bytes than it needs.
  bool is_shortest = true;
};

namespace cbor_callback {

using Type = CborItem::Type;

template <Type Seen, class Argument>
void take_argument(void* context, Argument argument) {
  auto& item = *static_cast<CborItem*>(context);
  item.type = Seen;
  item.argument = argument;
}

template <Type Seen, class Size>
void take_content(void* context, cbor_data data, Size size) {
  auto& item = *static_cast<CborItem*>(context);
  item.type = Seen;
  item.data = data;
  item.argument = size;
}

template <Type Seen>
void take_type(void* context) {
  static_cast<CborItem*>(context)->type = Seen;
}

template <Type Seen, class Float>
void take_float(void* context, Float value) {
  auto& item = *static_cast<CborItem*>(context);
  item.type = Seen;
  item.floating = static_cast<double>(value);
}

inline constexpr cbor_callbacks kTable = {
    .uint8 = take_argument<Type::unsigned_integer>,
    .uint16 = take_argument<Type::unsigned_integer>,
    .uint32 = take_argument<Type::unsigned_integer>,
    .uint64 = take_argument<Type::unsigned_integer>,
    .negint64 = take_argument<Type::negative_integer>,
    .negint32 = take_argument<Type::negative_integer>,
    .negint16 = take_argument<Type::negative_integer>,
    .negint8 = take_argument<Type::negative_integer>,
    .byte_string_start = take_type<Type::indefinite>,
    .byte_string = take_content<Type::bytes>,
    .string = take_content<Type::string>,
    .string_start = take_type<Type::indefinite>,
    .indef_array_start = take_type<Type::indefinite>,
    .array_start = take_argument<Type::list>,
    .indef_map_start = take_type<Type::indefinite>,
    .map_start = take_argument<Type::map>,
    .tag = take_argument<Type::tag>,
    .float2 = take_float<Type::short_float>,
    .float4 = take_float<Type::short_float>,
    .float8 = take_float<Type::floating>,
    .undefined = take_type<Type::undefined>,
    .null = take_type<Type::null>,
    .boolean = take_argument<Type::boolean>,
    .indef_break = take_type<Type::indefinite>,
};

}  // namespace cbor_callback

/// Whether an argument has no leading zeros. libcbor accepts leading zeros, and DAG-CBOR forbids
/// them.
inline bool is_shortest(std::uint8_t head, std::uint64_t argument) {
  switch (head & 0x1fU) {
    case 24:
      return argument > 23;
    case 25:
      return argument > 0xff;
    case 26:
      return argument > 0xffff;
    case 27:
      return argument > 0xffffffff;
    default:
      return true;
  }
}

/// Removes the item at the front of `in`: texts and bytes with their content, but only the head of
/// lists, maps and tags. Returns errc{} or the error: truncated or undefined.
inline errc take_cbor_item(ByteView& in, CborItem& item) {
  if (in.empty()) return errc::cbor_truncated;
  const std::uint8_t head = in.front();
  const cbor_decoder_result decoded =
      cbor_stream_decode(in.data(), in.size(), &cbor_callback::kTable, &item);
  if (decoded.status != CBOR_DECODER_FINISHED) {
    if (decoded.status == CBOR_DECODER_NEDATA) return errc::cbor_truncated;
    constexpr unsigned kSimpleValues = 7;
    return (head >> 5U) == kSimpleValues ? errc::cbor_bad_simple : errc::cbor_malformed;
  }
  item.is_shortest = item.type > CborItem::Type::tag || is_shortest(head, item.argument);
  in = in.subspan(decoded.read);
  return errc{};
}

}  // namespace skua::repo
