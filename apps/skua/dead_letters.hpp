#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "tables/dead_letters.hpp"

namespace skua::cli {

// The functions show dead letters to people and programs. All results are safe for a terminal,
// because the texts come from the network.

/// Returns all fields except the payload.
nlohmann::json letter_json(const tables::LetterRow& letter);

/// Returns the content of the payload: the `event` of a change, `record` (DAG-CBOR as JSON) or
/// `value` (other DAG-CBOR), a summary of a `frame`, `text`, or the first bytes as `hex`. Null if
/// the letter has no payload.
nlohmann::json payload_json(const tables::LetterRow& letter, const Bytes& payload);

/// Returns a table with one line for each letter.
std::string letters_text(const std::vector<tables::LetterRow>& letters);

/// Returns one letter with one line for each field.
std::string letter_text(const tables::LetterRow& letter, const Bytes& payload);

/// Returns JSON for a terminal or a program, with all characters beyond ASCII escaped.
std::string safe_dump(const nlohmann::json& value);

}  // namespace skua::cli
