#include "retention/removal.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <fmt/format.h>

#include "base/crash_point.hpp"
#include "records/record.hpp"
#include "writer/account_removal.hpp"
#include "writer/discard.hpp"
#include "writer/purge.hpp"
#include "writer/table_writer.hpp"
#include "retention/removal.sql.hpp"

namespace skua::retention {
namespace {

using store::Statement;

constexpr std::int64_t kBlocksOfStep = 128;
constexpr std::size_t kRowsOfStep = 1'000;

struct TableSize {
  std::int64_t blocks = 0;
  std::int64_t block_bytes = 0;
};

TableSize size_of(store::Session& session, const writer::TableWriter& table) {
  const store::Rows size =
      session.run(fmt::format("SELECT pg_relation_size('{}') / b, b FROM (SELECT "
                              "current_setting('block_size')::int8 AS b) AS s",
                              table.name()));
  return {size.int8(0, 0), size.int8(0, 1)};
}

}  // namespace

std::vector<Rule> read_rules(store::Session& session) {
  const store::Rows rows = session.execute(sql::retention_rules, {});
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Rule& rule = rules.emplace_back();
    rule.collection = rows.text(i, 0);
    rule.keep = std::chrono::seconds(rows.int8(i, 1));
    if (!rows.is_null(i, 2)) rule.pass_at = rows.timestamp(i, 2);
    rule.removed = rows.int8(i, 3);
  }
  return rules;
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
  store::Params params;
  params.boolean(due == Due::Now);
  const store::Rows excluded = session.execute(sql::retention_excluded, params);
  for (std::size_t i = 0; i < excluded.size(); ++i) {
    const std::string did(excluded.text(i, 0));
    if (!excluded.is_null(i, 1)) {
      metrics.excluded += writer::discard_account(session, did, excluded.int4(i, 1));
    }
    crash_point("excluded_removed");
    store::Params of_did;
    of_did.text(did);
    session.execute(sql::retention_removed, of_did);
  }
  return excluded.size();
}

std::string next_expiring(store::Session& session) {
  const store::Rows next = session.execute(sql::retention_next, {});
  return next.empty() ? std::string() : std::string(next.text(0, 0));
}

ExpiryStep expire_step(store::Session& session, const std::string& collection,
                       RemovalMetrics& metrics) {
  store::Transaction transaction(session);
  store::Params of_collection;
  of_collection.text(collection);
  const store::Rows rule = session.execute(sql::retention_begin, of_collection);
  if (rule.empty()) return {.is_end = true};
  const std::int64_t first = rule.int8(0, 0);
  writer::ExpiredQuestion question{.collection_id = rule.is_null(0, 2) ? 0 : rule.int4(0, 2),
                                   .first_block = first,
                                   .end_block = first + kBlocksOfStep,
                                   .before = rule.timestamp(0, 1),
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
  store::Params end;
  end.text(collection);
  if (has_more) {
    end.int8(first + blocks);
  } else {
    end.null();
  }
  end.int8(static_cast<std::int64_t>(removed));
  session.execute(sql::retention_end, end);
  crash_point("before_expiry_commit");
  transaction.commit();
  metrics.expired += removed;
  return {.is_end = !has_more,
          .bytes = blocks * size.block_bytes,
          .table_bytes = size.blocks * size.block_bytes};
}

}  // namespace skua::retention
