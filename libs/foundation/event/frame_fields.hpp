#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "atproto/data_model.hpp"
#include "base/result.hpp"
#include "event/frame_decoder.hpp"

namespace skua::event {

/// The largest event stream frame in bytes, header included, that a decoder accepts.
inline constexpr std::size_t kMaxFrame = 5'000'000;

/// Returns the text of a map's field, as a view into the document's bytes, or nothing if the field
/// is absent or is not a string.
inline std::optional<std::string_view> text_field(const atproto::Value& map, std::string_view key) {
  const auto value = map.find(key);
  if (!value || !value->is_string()) return std::nullopt;
  return value->string();
}

/// The largest sequence number; the smallest is 1
/// (atproto.com/specs/event-stream#sequence-numbers).
inline constexpr std::int64_t kMaxSeq = std::int64_t{1} << 53;

/// Returns the meaning of a header's `op` and `t`. Unknown values are legal and make the message
/// Unknown. Returns an error if `op` or a required `t` is missing.
Result<MessageType> message_type(std::optional<std::int64_t> op, std::optional<std::string_view> t);

}  // namespace skua::event
