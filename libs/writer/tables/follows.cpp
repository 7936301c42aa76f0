#include "records/follow.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Follow;

template <>
const TableDefinition<Follow>& table_definition<Follow>() {
  static const auto kColumns =
      ColumnList<Follow>()
          .column<&Follow::subject>("subject_actor")
          .key_of<&Follow::via>("via")
          .collection_of<&Follow::via>("via")
          .cid_of<&Follow::via>("via")
          .counted<&Follow::subject>(store::ReferenceRole::Follow, "subject", true);
  static const TableDefinition<Follow> kTable("follows", kColumns);
  return kTable;
}

}  // namespace skua::writer
