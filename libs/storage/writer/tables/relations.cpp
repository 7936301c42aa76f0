#include "records/relations.hpp"

#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Follow;

template <>
const TableDefinition<Follow>& table_definition<Follow>() {
  static const auto kColumns =
      ColumnList<Follow>()
          .column<&Follow::subject>("subject_actor")
          .key_of<&Follow::via>("via")
          .collection_of<&Follow::via>("via")
          .cid_of<&Follow::via>("via")
          .counted<&Follow::subject>(tables::ReferenceRole::Follow, "subject", true);
  static const TableDefinition<Follow> kTable("follows", kColumns);
  return kTable;
}

using records::Block;

template <>
const TableDefinition<Block>& table_definition<Block>() {
  static const auto kColumns =
      ColumnList<Block>()
          .column<&Block::subject>("subject_actor")
          .counted<&Block::subject>(tables::ReferenceRole::Block, "subject", true);
  static const TableDefinition<Block> kTable("blocks", kColumns);
  return kTable;
}

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
