#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skua::records {

/// The texts of a list in the record's order, as views into the record's block. Members of this
/// type are optional, because an absent list differs from an empty list.
using TextList = std::vector<std::string_view>;

/// Returns the normal form of a tag: without NULs, without `#` at its beginning, and in lower case.
/// Letters change by the simple case folding of Unicode (one letter becomes one letter) of Latin,
/// Greek, Cyrillic, Armenian and full-width letters; all other characters stay unchanged, such as
/// U+0130. Bytes that are not UTF-8 stay unchanged. The function `bsky.normal_tag` of the database
/// does the same.
std::string normal_tag(std::string_view tag);

/// Returns the host of an http or https URL, without user, password and port, in lower case (only A
/// to Z change). Returns an empty text if the URI has another scheme or no host, or if the host is
/// longer than 253 bytes. The function `bsky.link_host` of the database does the same.
std::string link_host(std::string_view uri);

struct Post;

/// Fills the members of a post that follow from its facets, tags and embed: `mentions`, `all_tags`,
/// `links`, `link_hosts`, `images_without_alt` and `has_video`.
void fill_content(Post& post);

}  // namespace skua::records
