#include "writer/purge.hpp"

#include "records/record.hpp"
#include "writer/account_removal.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {
namespace {

const store::Statement kRaise{
    "purge_raise",
    "UPDATE bsky.actors AS a SET floor_rev = greatest(a.floor_rev, known.rev, "
    "(extract(epoch FROM a.status_time) * 1000000)::int8 << 10 | 1023) "
    "FROM bsky.actors AS b LEFT JOIN skua.repositories AS known ON known.did = b.did "
    "WHERE b.did = $1 AND a.id = b.id AND a.status = 'deleted' AND a.status_time IS NOT NULL "
    "RETURNING a.id, a.floor_rev, a.status_time, "
    "EXISTS (SELECT FROM bsky.all_records AS r WHERE r.did = a.did) "
    "OR EXISTS (SELECT FROM bsky.labels AS l WHERE l.actor_id = a.id)"};

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

std::optional<std::size_t> purge_deleted_account(store::Session& session, const std::string& did) {
  store::Params params;
  params.text(did);
  store::Transaction transaction(session);
  lock_account(session, did);
  const store::Rows raised = session.execute(kRaise, params);
  transaction.commit();
  if (raised.empty()) return std::nullopt;
  if (!raised.boolean(0, 3)) return 0;
  return purge_account(session, {did,
                                 raised.int4(0, 0),
                                 {static_cast<std::uint64_t>(raised.int8(0, 1))},
                                 raised.timestamp(0, 2)});
}

}  // namespace skua::writer
