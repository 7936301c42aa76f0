#pragma once

#include <cstddef>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/time.hpp"
#include "store/session.hpp"

namespace skua::status {

// What may be null, as JSON: columns of an answer, and times.

nlohmann::json text_or_null(const store::Rows& rows, std::size_t row, std::size_t column);
nlohmann::json boolean_or_null(const store::Rows& rows, std::size_t row, std::size_t column);
/// Of a time: RFC 3339, as format_datetime writes it.
nlohmann::json time_or_null(const std::optional<Timestamp>& time);
nlohmann::json time_or_null(const store::Rows& rows, std::size_t row, std::size_t column);

}  // namespace skua::status
