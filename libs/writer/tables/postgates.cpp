#include "records/postgate.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Postgate;

template <>
const TableDefinition<Postgate>& table_definition<Postgate>() {
  static const auto kColumns = ColumnList<Postgate>()
                                   .key_of<&Postgate::post>("post")
                                   .column<&Postgate::embedding_disabled>("embedding_disabled")
                                   .column<&Postgate::detached_uris>("detached_uris");
  static const TableDefinition<Postgate> kTable("postgates", kColumns);
  return kTable;
}

}  // namespace skua::writer
