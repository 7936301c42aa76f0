#pragma once

#include <string_view>

namespace skua::atproto {

/// Whether a text is a well-formed language tag (RFC 5646, section 2.1), which the lexicons' string
/// format `language` requires. Two things are narrower than in the RFC, as in the public test
/// vectors: the language is in lower case, and it has no four letters, which the RFC reserves.
/// Subtags need not be registered, and may be repeated.
bool is_language_tag(std::string_view text);

}  // namespace skua::atproto
