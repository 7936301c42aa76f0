#include "records/verification.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Verification;

template <>
const TableDefinition<Verification>& table_definition<Verification>() {
  static const auto kColumns = ColumnList<Verification>()
                                   .column<&Verification::subject>("subject_actor")
                                   .column<&Verification::handle>("handle")
                                   .column<&Verification::display_name>("display_name");
  static const TableDefinition<Verification> kTable("verifications", kColumns);
  return kTable;
}

}  // namespace skua::writer
