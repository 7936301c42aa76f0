#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "atproto/data_model.hpp"

namespace skua::event {

/// Bytes of one event stream frame, header included, that a decoder accepts.
inline constexpr std::size_t kMaxFrame = 5'000'000;

/// The text of a map's field; nothing when the field is absent or is not a string. The result
/// refers to the document's bytes.
inline std::optional<std::string_view> text_field(const atproto::Value& map, std::string_view key) {
  const auto value = map.find(key);
  if (!value || !value->is_string()) return std::nullopt;
  return value->string();
}

}  // namespace skua::event
