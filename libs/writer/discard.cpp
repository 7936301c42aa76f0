#include "writer/discard.hpp"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "records/record.hpp"
#include "store/advisory_lock.hpp"
#include "writer/effects.hpp"
#include "writer/tables/labels.hpp"

namespace skua::writer {
namespace {

/// So many rows take some tens of milliseconds: nobody waits long for an account.
constexpr std::size_t kRowsAtOnce = 5'000;
/// A labeler chooses the times of its labels.
constexpr Timestamp kEndOfTime{std::chrono::sys_days(std::chrono::year(9999) / 12 / 31)};

void lock_all_types(store::Session& session, const std::string& did) {
  std::vector<store::Lock> locks;
  locks.reserve(records::kRecordTypes.size());
  for (const auto type : records::kRecordTypes) {
    locks.push_back(store::account_lock(session, static_cast<std::uint8_t>(type), did));
  }
  store::lock_xact(session, std::move(locks));
}

std::size_t discard_labels_of(store::Session& session, const std::string& did,
                              std::int32_t actor_id) {
  std::size_t rows = 0;
  for (;;) {
    store::Transaction transaction(session);
    lock_all_types(session, did);
    Effects effects;
    const std::size_t removed = purge_labels(session, actor_id, kEndOfTime, kRowsAtOnce, effects);
    effects.finish(session);
    transaction.commit();
    rows += removed;
    if (removed < kRowsAtOnce) return rows;
  }
}

}  // namespace

std::size_t discard_rows(store::Session& session, const TableWriter& table, const std::string& did,
                         std::int32_t actor_id) {
  std::size_t rows = 0;
  for (;;) {
    store::Transaction transaction(session);
    lock_all_types(session, did);
    const std::vector<StoredRow> found = table.rows_before(
        session, actor_id, std::numeric_limits<std::int64_t>::max(), std::nullopt, kRowsAtOnce);
    std::vector<RowKey> keys;
    keys.reserve(found.size());
    for (const StoredRow& row : found) keys.push_back(row.key);
    Effects effects;
    rows += table.discard(session, keys, std::nullopt, effects);
    effects.finish(session);
    transaction.commit();
    if (found.size() < kRowsAtOnce) return rows;
  }
}

std::size_t discard_account(store::Session& session, const std::string& did,
                            std::int32_t actor_id) {
  std::size_t rows = discard_rows(session, records_table(), did, actor_id);
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const TableWriter* table = table_of(id)) {
      rows += discard_rows(session, *table, did, actor_id);
    }
  }
  return rows + discard_labels_of(session, did, actor_id);
}

ExpiredCounts discard_expired(store::Session& session, const TableWriter* table,
                              const std::string& collection, const ExpiredQuestion& question) {
  std::vector<ExpiredRow> in_table;
  if (table != nullptr) in_table = table->expired_rows(session, question);
  const std::vector<ExpiredRow> in_records = records_table().expired_rows(session, question);
  const auto type = static_cast<std::uint8_t>(records::record_type_of(collection));
  std::vector<store::Lock> locks;
  const auto keys_of = [&](const std::vector<ExpiredRow>& rows) {
    std::vector<RowKey> keys;
    keys.reserve(rows.size());
    for (const ExpiredRow& row : rows) {
      keys.push_back(row.key);
      locks.push_back(store::account_lock(session, type, row.did));
    }
    return keys;
  };
  const std::vector<RowKey> table_keys = keys_of(in_table);
  const std::vector<RowKey> record_keys = keys_of(in_records);
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
