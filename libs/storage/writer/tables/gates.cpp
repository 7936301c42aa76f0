#include "records/gates.hpp"

#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Threadgate;

template <>
const TableDefinition<Threadgate>& table_definition<Threadgate>() {
  static const auto kColumns = ColumnList<Threadgate>()
                                   .key_of<&Threadgate::post>("post")
                                   .column<&Threadgate::is_restricted>("is_restricted")
                                   .column<&Threadgate::allow_mentioned>("allow_mentioned")
                                   .column<&Threadgate::allow_following>("allow_following")
                                   .column<&Threadgate::allow_followers>("allow_followers")
                                   .column<&Threadgate::allow_lists>("allow_lists")
                                   .column<&Threadgate::hidden_replies>("hidden_replies");
  static const TableDefinition<Threadgate> kTable("threadgates", kColumns);
  return kTable;
}

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
