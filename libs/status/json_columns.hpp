#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "base/time.hpp"

namespace skua::status {

// Columns that may be null, as JSON.

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// A time as RFC 3339, in the form of format_datetime.
nlohmann::json or_null(const std::optional<Timestamp>& time);

}  // namespace skua::status
