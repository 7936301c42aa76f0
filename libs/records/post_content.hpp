#pragma once

namespace skua::records {

struct Post;

/// Fills the members of a post that follow from its facets, tags and embed: `mentions`, `all_tags`,
/// `links`, `link_hosts`, `images_without_alt` and `has_video`.
void fill_content(Post& post);

}  // namespace skua::records
