#include "writer/purge.hpp"

#include <utility>

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

/// Numbers of what a purge reads: `bsky.records`, then the tables of the collections, then labels.
constexpr int kRecordsTable = 0;
constexpr int kLabels = static_cast<int>(records::kTypedCollections) + 1;

std::size_t purge_rows(store::Session& session, int number, const Purge& purge, Effects& effects) {
  if (number == kLabels) {
    return purge_labels(session, purge.actor_id, purge.said_at, kRowsOfRemoval, effects);
  }
  const TableWriter* table = number == kRecordsTable ? &records_table() : table_of(number);
  if (table == nullptr) return 0;
  return table->purge(session, purge.actor_id, static_cast<std::int64_t>(purge.floor.value),
                      kRowsOfRemoval, effects);
}

}  // namespace

AccountPurge::AccountPurge(Purge purge, bool has_rows)
    : purge_(std::move(purge)), table_(has_rows ? kRecordsTable : kLabels + 1) {}

std::size_t AccountPurge::step(store::Session& session) {
  const std::size_t rows = remove_step(session, purge_.did, [&](Effects& effects) {
    return purge_rows(session, table_, purge_, effects);
  });
  if (rows < kRowsOfRemoval) ++table_;
  rows_ += rows;
  return rows;
}

bool AccountPurge::is_done() const {
  return table_ > kLabels;
}

std::size_t purge_account(store::Session& session, const Purge& purge) {
  AccountPurge all(purge);
  while (!all.is_done()) all.step(session);
  return all.rows();
}

std::optional<AccountPurge> confirm_deletion(store::Session& session, const std::string& did) {
  store::Params params;
  params.text(did);
  store::Transaction transaction(session);
  lock_account(session, did);
  const store::Rows raised = session.execute(kRaise, params);
  transaction.commit();
  if (raised.empty()) return std::nullopt;
  return AccountPurge({did,
                       raised.int4(0, 0),
                       {static_cast<std::uint64_t>(raised.int8(0, 1))},
                       raised.timestamp(0, 2)},
                      raised.boolean(0, 3));
}

}  // namespace skua::writer
