#include "records/list.hpp"
#include "records/list_item.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::ListItem;

template <>
const TableDefinition<ListItem>& table_definition<ListItem>() {
  static const auto kColumns =
      ColumnList<ListItem>()
          .column<&ListItem::subject>("subject_actor")
          .key_of<&ListItem::list>("list")
          .counted<&ListItem::list>(store::ReferenceRole::ListItem, "list", false,
                                    records::List::kCollectionId)
          .counted<&ListItem::subject>(store::ReferenceRole::Listed, "subject", false);
  static const TableDefinition<ListItem> kTable("list_items", kColumns);
  return kTable;
}

}  // namespace skua::writer
