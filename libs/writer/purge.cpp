#include "writer/purge.hpp"

#include <utility>
#include <vector>

#include "records/record.hpp"
#include "store/advisory_lock.hpp"
#include "writer/effects.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {
namespace {

/// So many rows take some tens of milliseconds: nobody waits long for one that is being removed.
constexpr std::size_t kRows = 5'000;

void lock_account(store::Session& session, const std::string& did) {
  std::vector<store::Lock> locks;
  locks.reserve(records::kRecordTypes.size());
  for (const auto type : records::kRecordTypes) {
    locks.push_back(store::account_lock(session, static_cast<std::uint8_t>(type), did));
  }
  store::lock_xact(session, std::move(locks));
}

/// Calls `remove`, which returns how many rows went, until few did.
template <class F>
std::size_t remove_all(store::Session& session, const Purge& purge, F&& remove) {
  std::size_t rows = 0;
  for (;;) {
    store::Transaction transaction(session);
    lock_account(session, purge.did);
    Effects effects;
    const std::size_t removed = remove(effects);
    effects.finish(session);
    transaction.commit();
    rows += removed;
    if (removed < kRows) return rows;
  }
}

std::size_t purge_table(store::Session& session, const TableWriter& table, const Purge& purge) {
  return remove_all(session, purge, [&](Effects& effects) {
    return table.purge(session, purge.actor_id, static_cast<std::int64_t>(purge.floor.value), kRows,
                       effects);
  });
}

}  // namespace

std::size_t purge_account(store::Session& session, const Purge& purge) {
  std::size_t rows = purge_table(session, records_table(), purge);
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const TableWriter* table = table_of(id)) rows += purge_table(session, *table, purge);
  }
  rows += remove_all(session, purge, [&](Effects& effects) {
    return purge_labels(session, purge.actor_id, purge.said_at, kRows, effects);
  });
  return rows;
}

}  // namespace skua::writer
