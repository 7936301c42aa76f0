#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "atproto/data_model.hpp"

namespace skua::records {

/// The treatment of NUL characters in texts and keys, which PostgreSQL's jsonb cannot contain.
enum class Nul : std::uint8_t { Drop, Escape };

/// Appends a value as JSON text (atproto.com/specs/data-model): links as `{"$link": "bafy..."}`,
/// bytes as `{"$bytes": "..."}` in base64 without padding, entries in their order, no white space.
/// Texts must be valid UTF-8, which the reader has checked. Returns the number of NULs that were
/// dropped.
std::size_t append_json(std::string& out, const atproto::Value& value, Nul nul = Nul::Drop);

/// Appends one JSON string with its quotes. Returns the number of NULs that were dropped.
std::size_t append_json_string(std::string& out, std::string_view text, Nul nul = Nul::Drop);

}  // namespace skua::records
