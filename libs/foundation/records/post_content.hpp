#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skua::records {

/// Texts of a list, in the record's order. Views into the record's block. Members of this type are
/// optional: a list that is absent is another thing than an empty one.
using TextList = std::vector<std::string_view>;

/// The normal form of a tag: without NULs, without `#` at its begin, and in lower case. Case is the
/// simple case folding of Unicode (one letter becomes one letter) of Latin, Greek, Cyrillic,
/// Armenian and full-width letters; all other characters stay, such as U+0130. The function
/// `bsky.normal_tag` of the database does the same. Bytes that are not UTF-8 stay.
std::string normal_tag(std::string_view tag);

/// The host of an http or https URL, without user, password and port, in lower case (A to Z only;
/// other letters stay). Empty: the URI has another scheme or no host, or the host is longer than
/// 253 bytes. The function `bsky.link_host` of the database does the same.
std::string link_host(std::string_view uri);

struct Post;

/// Fills the members of a post that follow from its facets, tags and embed: `mentions`, `all_tags`,
/// `links`, `link_hosts`, `images_without_alt` and `has_video`.
void fill_content(Post& post);

}  // namespace skua::records
