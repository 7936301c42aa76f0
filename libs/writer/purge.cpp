#include "writer/purge.hpp"

#include "records/record.hpp"
#include "writer/account_removal.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {
namespace {

std::size_t purge_table(store::Session& session, const TableWriter& table, const Purge& purge) {
  return remove_in_steps(session, purge.did, [&](Effects& effects) {
    return table.purge(session, purge.actor_id, static_cast<std::int64_t>(purge.floor.value),
                       kRowsOfRemoval, effects);
  });
}

}  // namespace

std::size_t purge_account(store::Session& session, const Purge& purge) {
  std::size_t rows = purge_table(session, records_table(), purge);
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const TableWriter* table = table_of(id)) rows += purge_table(session, *table, purge);
  }
  rows += remove_in_steps(session, purge.did, [&](Effects& effects) {
    return purge_labels(session, purge.actor_id, purge.said_at, kRowsOfRemoval, effects);
  });
  return rows;
}

}  // namespace skua::writer
