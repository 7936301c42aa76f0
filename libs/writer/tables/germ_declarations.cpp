#include "records/germ_declaration.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::GermDeclaration;

template <>
const TableDefinition<GermDeclaration>& table_definition<GermDeclaration>() {
  static const auto kColumns = ColumnList<GermDeclaration>()
                                   .column<&GermDeclaration::version>("version")
                                   .column<&GermDeclaration::current_key>("current_key");
  static const TableDefinition<GermDeclaration> kTable("germ_declarations", kColumns);
  return kTable;
}

}  // namespace skua::writer
