#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "atproto/data_model.hpp"

namespace skua::event {

/// The largest event stream frame in bytes, header included, that a decoder accepts.
inline constexpr std::size_t kMaxFrame = 5'000'000;

/// The text of a map's field; nothing if the field is absent or is not a string. The result is a
/// view into the document's bytes.
inline std::optional<std::string_view> text_field(const atproto::Value& map, std::string_view key) {
  const auto value = map.find(key);
  if (!value || !value->is_string()) return std::nullopt;
  return value->string();
}

}  // namespace skua::event
