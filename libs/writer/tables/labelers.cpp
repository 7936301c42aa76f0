#include "records/labeler.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Labeler;

template <>
const TableDefinition<Labeler>& table_definition<Labeler>() {
  static const auto kColumns = ColumnList<Labeler>()
                                   .json<&Labeler::policies_json>("policies")
                                   .column<&Labeler::labels>("labels")
                                   .column<&Labeler::reason_types>("reason_types")
                                   .column<&Labeler::subject_types>("subject_types")
                                   .column<&Labeler::subject_collections>("subject_collections");
  static const TableDefinition<Labeler> kTable("labelers", kColumns);
  return kTable;
}

}  // namespace skua::writer
