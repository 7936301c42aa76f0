#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "tables/dead_letters.hpp"

namespace skua::cli {

// Dead letters for people and programs. Texts come from the network: everything here is safe for a
// terminal.

/// All fields except the payload.
nlohmann::json letter_json(const tables::LetterRow& letter);

/// What the payload contains: `record` (DAG-CBOR as JSON) or `value` (other DAG-CBOR), a summary of
/// a `frame`, `text`, or the first bytes as `hex`. Null: the letter has no payload.
nlohmann::json payload_json(const tables::LetterRow& letter, const Bytes& payload);

/// A table, one line for each letter.
std::string letters_text(const std::vector<tables::LetterRow>& letters);

/// One letter, one line for each field.
std::string letter_text(const tables::LetterRow& letter, const Bytes& payload);

/// JSON for a terminal or a program: all beyond ASCII is escaped.
std::string safe_dump(const nlohmann::json& value);

}  // namespace skua::cli
