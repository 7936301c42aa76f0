#include "writer/purge.hpp"

#include "records/record.hpp"
#include "writer/table_writer.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {
namespace {

/// So many rows take some tens of milliseconds: nobody waits long for one that is being removed.
constexpr std::size_t kRows = 5'000;

std::size_t purge_table(store::Session& session, const TableWriter& table, const Purge& purge) {
  std::size_t rows = 0;
  for (;;) {
    const std::size_t removed =
        table.purge(session, purge.actor_id, static_cast<std::int64_t>(purge.floor.value), kRows);
    rows += removed;
    if (removed < kRows) return rows;
  }
}

}  // namespace

std::size_t purge_account(store::Session& session, const Purge& purge) {
  std::size_t rows = purge_table(session, records_table(), purge);
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const TableWriter* table = table_of(id)) rows += purge_table(session, *table, purge);
  }
  for (;;) {
    const std::size_t removed = purge_labels(session, purge.actor_id, purge.said_at, kRows);
    rows += removed;
    if (removed < kRows) return rows;
  }
}

}  // namespace skua::writer
