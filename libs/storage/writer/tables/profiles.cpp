#include "records/profile.hpp"
#include "writer/tables/table_definition.hpp"

namespace skua::writer {

using records::Profile;

template <>
const TableDefinition<Profile>& table_definition<Profile>() {
  static const auto kColumns = ColumnList<Profile>()
                                   .column<&Profile::display_name>("display_name")
                                   .column<&Profile::description>("description")
                                   .column<&Profile::pronouns>("pronouns")
                                   .column<&Profile::website>("website")
                                   .column<&Profile::avatar>("avatar_cid")
                                   .column<&Profile::banner>("banner_cid")
                                   .column<&Profile::labels>("labels")
                                   .key_of<&Profile::pinned>("pinned")
                                   .cid_of<&Profile::pinned>("pinned")
                                   .key_of<&Profile::joined_via>("joined_via")
                                   .cid_of<&Profile::joined_via>("joined_via");
  static const TableDefinition<Profile> kTable("profiles", kColumns);
  return kTable;
}

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
