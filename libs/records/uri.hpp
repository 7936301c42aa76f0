#pragma once

#include <string_view>

namespace skua::records {

/// Whether a text has the lexicons' `uri` format (atproto.com/specs/lexicon#uri): a scheme, a colon
/// and something after it, without white space. The length, at most 8 KB there, is not checked.
bool is_uri(std::string_view text);

}  // namespace skua::records
