#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace skua::identity {

/// A text member of an object; empty when `value` is not an object, or the member is missing or
/// not a text. The result refers to `value`.
inline std::string_view text_field(const nlohmann::json& value, const char* name) {
  if (!value.is_object()) return {};
  const auto member = value.find(name);
  if (member == value.end() || !member->is_string()) return {};
  return member->get_ref<const std::string&>();
}

}  // namespace skua::identity
