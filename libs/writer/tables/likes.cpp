#include "records/like.hpp"
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
          .counted<&Like::subject>(store::ReferenceRole::Like, "subject", true);
  static const TableDefinition<Like> kTable("likes", kColumns);
  return kTable;
}

}  // namespace skua::writer
