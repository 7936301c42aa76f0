#include "records/reactions.hpp"

#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Like;

template <>
const TableDefinition<Like>& table_definition<Like>() {
  static const auto kColumns =
      ColumnList<Like>()
          .key_of<&Like::subject>("subject")
          .collection_of<&Like::subject>("subject")
          .cid_of<&Like::subject>("subject")
          .key_of<&Like::via>("via")
          .cid_of<&Like::via>("via")
          .counted<&Like::subject>(tables::ReferenceRole::Like, "subject", true);
  static const TableDefinition<Like> kTable("likes", kColumns);
  return kTable;
}

using records::Repost;

template <>
const TableDefinition<Repost>& table_definition<Repost>() {
  static const auto kColumns =
      ColumnList<Repost>()
          .key_of<&Repost::subject>("subject")
          .collection_of<&Repost::subject>("subject")
          .cid_of<&Repost::subject>("subject")
          .key_of<&Repost::via>("via")
          .cid_of<&Repost::via>("via")
          .counted<&Repost::subject>(tables::ReferenceRole::Repost, "subject", true);
  static const TableDefinition<Repost> kTable("reposts", kColumns);
  return kTable;
}

}  // namespace skua::writer
