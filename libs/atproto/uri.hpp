#pragma once

#include <string_view>

namespace skua::atproto {

/// Whether a text has the lexicons' `uri` format (atproto.com/specs/lexicon#uri): a scheme, a colon
/// and something after it, without white space, at most 8192 bytes.
bool is_uri(std::string_view text);

}  // namespace skua::atproto
