#include "top/json_fields.hpp"

#include <algorithm>
#include <cstddef>

#include "top/snapshot.hpp"

namespace skua::top {

using nlohmann::json;

const json* field(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string text_field(const json& object, std::string_view name) {
  const json* const value = field(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::optional<double> number_field(const json& object, std::string_view name) {
  const json* const value = field(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

bool true_field(const json& object, std::string_view name) {
  const json* const value = field(object, name);
  return value != nullptr && *value == true;
}

std::span<const json> rows_field(const json& object, std::string_view name) {
  const json* const value = field(object, name);
  if (value == nullptr || !value->is_array()) return {};
  const auto& rows = value->get_ref<const json::array_t&>();
  return {rows.data(), std::min(rows.size(), Snapshot::kMostRows)};
}

}  // namespace skua::top
