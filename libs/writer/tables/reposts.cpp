#include "records/repost.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

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
          .counted<&Repost::subject>(store::ReferenceRole::Repost, "subject", true);
  static const TableDefinition<Repost> kTable("reposts", kColumns);
  return kTable;
}

}  // namespace skua::writer
