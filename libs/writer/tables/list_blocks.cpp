#include "records/list_block.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::ListBlock;

template <>
const TableDefinition<ListBlock>& table_definition<ListBlock>() {
  static const auto kColumns = ColumnList<ListBlock>().key_of<&ListBlock::list>("list");
  static const TableDefinition<ListBlock> kTable("list_blocks", kColumns);
  return kTable;
}

}  // namespace skua::writer
