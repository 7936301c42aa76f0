#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace skua::top {

// Fields of JSON of which nothing is known: a field of another type is missing. Pure.

/// The member of an object; null: there is none.
const nlohmann::json* field(const nlohmann::json& object, std::string_view name);
/// Empty: there is none.
std::string text_field(const nlohmann::json& object, std::string_view name);
std::optional<double> number_field(const nlohmann::json& object, std::string_view name);
bool true_field(const nlohmann::json& object, std::string_view name);
/// The elements of an array, at most Snapshot::kMostRows; empty: it is not an array. Not a copy:
/// copying is recursive, and the depth of hostile JSON is not limited.
std::span<const nlohmann::json> rows_field(const nlohmann::json& object, std::string_view name);

}  // namespace skua::top
