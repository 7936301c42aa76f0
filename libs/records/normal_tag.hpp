#pragma once

#include <string>
#include <string_view>

namespace skua::records {

/// The normal form of a tag: without NULs, without `#` at its begin, and in lower case. Case is the
/// simple case folding of Unicode (one letter becomes one letter) of Latin, Greek, Cyrillic,
/// Armenian and full-width letters; all other characters stay, such as U+0130. The function
/// `bsky.normal_tag` of the database does the same. Bytes that are not UTF-8 stay.
std::string normal_tag(std::string_view tag);

}  // namespace skua::records
