#include "records/block.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Block;

template <>
const TableDefinition<Block>& table_definition<Block>() {
  static const auto kColumns =
      ColumnList<Block>()
          .column<&Block::subject>("subject_actor")
          .counted<&Block::subject>(store::ReferenceRole::Block, "subject", true);
  static const TableDefinition<Block> kTable("blocks", kColumns);
  return kTable;
}

}  // namespace skua::writer
