#include "records/starter_pack.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

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
