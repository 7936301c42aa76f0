#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// The documents of libs/foundation/lexicon/documents, in the order of their names. They live as
/// long as the program.
std::vector<std::string_view> built_in_documents();

/// The schema of the built-in documents, which is built at the first call. All threads may use it.
const Schema& built_in_schema();

/// The object of the records of a collection, which a built-in document must define.
const Node& built_in_record(std::string_view collection);

/// Changes with the built-in documents, and with the rules of the checks: a short text of hex
/// digits. Records that were checked under another one are checked again.
const std::string& built_in_fingerprint();

}  // namespace skua::lexicon
