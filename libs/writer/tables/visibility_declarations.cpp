#include "records/visibility_declaration.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::VisibilityDeclaration;

template <>
const TableDefinition<VisibilityDeclaration>& table_definition<VisibilityDeclaration>() {
  static const auto kColumns =
      ColumnList<VisibilityDeclaration>()
          .column<&VisibilityDeclaration::hide_from_algorithmic_recommendations>(
              "hide_from_algorithmic_recommendations");
  static const TableDefinition<VisibilityDeclaration> kTable("visibility_declarations", kColumns);
  return kTable;
}

}  // namespace skua::writer
