#include "records/list.hpp"
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

}  // namespace skua::writer
