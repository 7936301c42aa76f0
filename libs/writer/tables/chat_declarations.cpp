#include "records/chat_declaration.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::ChatDeclaration;

template <>
const TableDefinition<ChatDeclaration>& table_definition<ChatDeclaration>() {
  static const auto kColumns =
      ColumnList<ChatDeclaration>().column<&ChatDeclaration::allow_incoming>("allow_incoming");
  static const TableDefinition<ChatDeclaration> kTable("chat_declarations", kColumns);
  return kTable;
}

}  // namespace skua::writer
