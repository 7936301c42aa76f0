#include "records/post.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Post;

template <>
const TableDefinition<Post>& table_definition<Post>() {
  static const auto kColumns =
      ColumnList<Post>()
          .column<&Post::text>("text")
          .words<&Post::langs>("langs")
          .column<&Post::tags>("tags")
          .column<&Post::labels>("labels")
          .json<&Post::facets_json>("facets")
          .json<&Post::embed_json>("embed")
          .list<&Post::mentions>("mentions")
          .list<&Post::all_tags>("all_tags")
          .list<&Post::links>("links")
          .list<&Post::link_hosts>("link_hosts")
          .column<&Post::images_without_alt>("images_without_alt")
          .column<&Post::has_video>("has_video")
          .key_of<&Post::parent>("parent")
          .cid_of<&Post::parent>("parent")
          .key_of<&Post::root>("root")
          .cid_of<&Post::root>("root")
          .key_of<&Post::quote>("quote")
          .collection_of<&Post::quote>("quote")
          .cid_of<&Post::quote>("quote")
          .counted<&Post::parent>(tables::ReferenceRole::Reply, "parent", false,
                                  Post::kCollectionId)
          .counted<&Post::quote>(tables::ReferenceRole::Quote, "quote", false)
          .counted_author(tables::ReferenceRole::Post);
  static const TableDefinition<Post> kTable("posts", kColumns, "is_deleted");
  return kTable;
}

}  // namespace skua::writer
