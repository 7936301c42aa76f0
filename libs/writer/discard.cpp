#include "writer/discard.hpp"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "base/account_number.hpp"
#include "records/record.hpp"
#include "store/advisory_lock.hpp"
#include "writer/account_removal.hpp"
#include "writer/effects.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {
namespace {

/// A labeler chooses the times of its labels.
constexpr Timestamp kEndOfTime{std::chrono::sys_days(std::chrono::year(9999) / 12 / 31)};

}  // namespace

std::size_t discard_rows(store::Session& session, const TableWriter& table, const std::string& did,
                         AccountNumber actor_id) {
  return remove_in_steps(session, did, [&](Effects& effects) {
    // Only rows with content: the table removes as many as it finds.
    const std::vector<StoredRow> found = table.rows_before(
        session, actor_id, std::numeric_limits<std::int64_t>::max(), std::nullopt, kRowsOfRemoval);
    std::vector<RecordKey> keys;
    keys.reserve(found.size());
    for (const StoredRow& row : found) keys.push_back(row.key);
    return table.discard(session, keys, std::nullopt, effects);
  });
}

std::size_t discard_account(store::Session& session, const std::string& did,
                            AccountNumber actor_id) {
  std::size_t rows = discard_rows(session, records_table(), did, actor_id);
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const TableWriter* table = table_of(id)) {
      rows += discard_rows(session, *table, did, actor_id);
    }
  }
  return rows + remove_in_steps(session, did, [&](Effects& effects) {
           return purge_labels(session, actor_id, kEndOfTime, kRowsOfRemoval, effects);
         });
}

ExpiredCounts discard_expired(store::Session& session, const TableWriter* table,
                              const std::string& collection, const ExpiredQuestion& question) {
  std::vector<ExpiredRow> in_table;
  if (table != nullptr) in_table = table->expired_rows(session, question);
  const std::vector<ExpiredRow> in_records = records_table().expired_rows(session, question);
  const auto type = static_cast<std::uint8_t>(records::record_type_of(collection));
  std::vector<store::Lock> locks;
  const auto keys_of = [&](const std::vector<ExpiredRow>& rows) {
    std::vector<RecordKey> keys;
    keys.reserve(rows.size());
    for (const ExpiredRow& row : rows) {
      keys.push_back(row.key);
      locks.push_back(store::account_lock(session, type, row.did));
    }
    return keys;
  };
  const std::vector<RecordKey> table_keys = keys_of(in_table);
  const std::vector<RecordKey> record_keys = keys_of(in_records);
  if (locks.empty()) return {};
  store::lock_xact(session, std::move(locks));
  Effects effects;
  if (!table_keys.empty()) table->discard(session, table_keys, question.before, effects);
  if (!record_keys.empty()) {
    records_table().discard(session, record_keys, question.before, effects);
  }
  effects.finish(session);
  return {.in_table = in_table.size(), .in_records = in_records.size()};
}

}  // namespace skua::writer
