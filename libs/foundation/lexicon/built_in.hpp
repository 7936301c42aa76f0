#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lexicon/schema.hpp"

namespace skua::lexicon {

/// Returns the documents of libs/foundation/lexicon/documents in the order of their names. They
/// live as long as the program.
std::vector<std::string_view> built_in_documents();

/// Returns the schema of the built-in documents. The first call builds it. All threads may use it.
const Schema& built_in_schema();

/// Returns the object type of a collection's records. A built-in document must define the
/// collection.
const Node& built_in_record(std::string_view collection);

/// Returns a short text of hex digits that changes with the built-in documents and with the rules
/// of the checks. Records that were checked under another fingerprint are checked again.
const std::string& built_in_fingerprint();

}  // namespace skua::lexicon
