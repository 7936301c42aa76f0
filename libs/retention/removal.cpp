#include "retention/removal.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "records/record.hpp"
#include "retention/removal.sql.hpp"
#include "writer/account_removal.hpp"
#include "writer/discard.hpp"
#include "writer/purge.hpp"
#include "writer/table_writer.hpp"

namespace skua::retention {
namespace {

constexpr std::int64_t kBlocksOfStep = 128;
constexpr std::size_t kRowsOfStep = 1'000;

struct TableSize {
  std::int64_t blocks = 0;
  std::int64_t block_bytes = 0;
};

/// A row of retention_excluded.
struct ExcludedAccount {
  std::string did;
  std::optional<AccountNumber> actor_id;
};

/// A row of retention_begin.
struct BegunPass {
  std::int64_t first_block;
  Timestamp before;
  std::optional<std::int32_t> collection_id;
};

TableSize size_of(store::Session& session, const writer::TableWriter& table) {
  return store::rows_of<TableSize>(
             session.run(fmt::format("SELECT pg_relation_size('{}') / b, b FROM (SELECT "
                                     "current_setting('block_size')::int8 AS b) AS s",
                                     table.name())))
      .at(0);
}

}  // namespace

std::vector<Rule> read_rules(store::Session& session) {
  return session.query<Rule>(sql::retention_rules);
}

std::size_t purge_deleted(store::Session& session, const std::stop_token& stop,
                          RemovalMetrics& metrics) {
  std::size_t rows = 0;
  std::string last;
  while (!stop.stop_requested()) {
    const std::vector<std::string> dids = writer::purges_after(session, last);
    if (dids.empty()) break;
    for (const std::string& did : dids) {
      if (stop.stop_requested()) break;
      const writer::PurgeStep step = writer::purge_step(session, did, writer::kRowsOfRemoval);
      metrics.purged += step.rows;
      rows += step.rows;
    }
    last = dids.back();
  }
  return rows;
}

std::size_t remove_excluded(store::Session& session, Due due, RemovalMetrics& metrics) {
  const auto excluded = session.query<ExcludedAccount>(sql::retention_excluded, due == Due::Now);
  for (const auto& [did, actor_id] : excluded) {
    if (actor_id) metrics.excluded += writer::discard_account(session, did, *actor_id);
    crash_point("excluded_removed");
    session.execute(sql::retention_removed, did);
  }
  return excluded.size();
}

std::string next_expiring(store::Session& session) {
  return session.query_first<std::string>(sql::retention_next).value_or("");
}

ExpiryStep expire_step(store::Session& session, const std::string& collection,
                       RemovalMetrics& metrics) {
  store::Transaction transaction(session);
  const auto rule = session.query_first<BegunPass>(sql::retention_begin, collection);
  if (!rule) return {.is_end = true};
  const std::int64_t first = rule->first_block;
  writer::ExpiredQuestion question{.collection_id = rule->collection_id.value_or(0),
                                   .first_block = first,
                                   .end_block = first + kBlocksOfStep,
                                   .before = rule->before,
                                   .limit = kRowsOfStep};
  TableSize size;
  const writer::TableWriter* table = writer::table_of(records::typed_collection_id(collection));
  if (table != nullptr) size = size_of(session, *table);
  question.end_block = std::min(question.end_block, size.blocks);
  const writer::ExpiredCounts found = discard_expired(session, table, collection, question);
  std::int64_t blocks = 0;
  if (found.in_table < question.limit) {
    blocks = std::max<std::int64_t>(0, question.end_block - first);
  }
  const bool has_more = found.in_table == question.limit || found.in_records == question.limit ||
                        question.end_block < size.blocks;
  const std::size_t removed = found.in_table + found.in_records;
  session.execute(sql::retention_end, collection,
                  has_more ? std::optional(first + blocks) : std::nullopt, removed);
  crash_point("before_expiry_commit");
  transaction.commit();
  metrics.expired += removed;
  return {.is_end = !has_more,
          .bytes = blocks * size.block_bytes,
          .table_bytes = size.blocks * size.block_bytes};
}

}  // namespace skua::retention
