#include "records/status.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Status;

template <>
const TableDefinition<Status>& table_definition<Status>() {
  static const auto kColumns = ColumnList<Status>()
                                   .column<&Status::status>("status")
                                   .json<&Status::embed_json>("embed")
                                   .column<&Status::duration_minutes>("duration_minutes");
  static const TableDefinition<Status> kTable("statuses", kColumns);
  return kTable;
}

}  // namespace skua::writer
