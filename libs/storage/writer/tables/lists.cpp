#include "records/lists.hpp"

#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::List;

template <>
const TableDefinition<List>& table_definition<List>() {
  static const auto kColumns = ColumnList<List>()
                                   .column<&List::purpose>("purpose")
                                   .column<&List::name>("name")
                                   .column<&List::description>("description")
                                   .json<&List::description_facets_json>("description_facets")
                                   .column<&List::avatar>("avatar_cid")
                                   .column<&List::labels>("labels");
  static const TableDefinition<List> kTable("lists", kColumns);
  return kTable;
}

using records::ListItem;

template <>
const TableDefinition<ListItem>& table_definition<ListItem>() {
  static const auto kColumns =
      ColumnList<ListItem>()
          .column<&ListItem::subject>("subject_actor")
          .key_of<&ListItem::list>("list")
          .counted<&ListItem::list>(tables::ReferenceRole::ListItem, "list", false,
                                    records::List::kCollectionId)
          .counted<&ListItem::subject>(tables::ReferenceRole::Listed, "subject", false);
  static const TableDefinition<ListItem> kTable("list_items", kColumns);
  return kTable;
}

using records::ListBlock;

template <>
const TableDefinition<ListBlock>& table_definition<ListBlock>() {
  static const auto kColumns = ColumnList<ListBlock>().key_of<&ListBlock::list>("list");
  static const TableDefinition<ListBlock> kTable("list_blocks", kColumns);
  return kTable;
}

using records::StarterPack;

template <>
const TableDefinition<StarterPack>& table_definition<StarterPack>() {
  static const auto kColumns =
      ColumnList<StarterPack>()
          .column<&StarterPack::name>("name")
          .column<&StarterPack::description>("description")
          .json<&StarterPack::description_facets_json>("description_facets")
          .key_of<&StarterPack::list>("list")
          .column<&StarterPack::feeds>("feeds");
  static const TableDefinition<StarterPack> kTable("starter_packs", kColumns);
  return kTable;
}

}  // namespace skua::writer
