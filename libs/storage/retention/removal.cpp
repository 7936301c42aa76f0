#include "retention/removal.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "base/crash_point.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/session_thread.hpp"
#include "records/record.hpp"
#include "retention/removal.sql.hpp"
#include "writer/account_changes.hpp"
#include "writer/account_locks.hpp"
#include "writer/dead_letter.hpp"
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

TableSize size_of(postgres::Session& session, const writer::TableWriter& table) {
  return postgres::rows_of<TableSize>(
             session.run(fmt::format("SELECT pg_relation_size('{}') / b, b FROM (SELECT "
                                     "current_setting('block_size')::int8 AS b) AS s",
                                     table.name())))
      .at(0);
}

/// The limit keeps the server's table of locks from filling up, because each row may need the lock
/// of another account.
constexpr std::size_t kRowsAtOnce = 1'000;

struct StoredAccount {
  AccountNumber id;
  std::string did;
};

/// Removes the rows of accounts that do not pass the filter, or of all accounts. The statement
/// finds each account with rows in the table by the primary key, and skips its other rows.
std::size_t prune_table(postgres::Session& session, const writer::TableWriter& table,
                        const tables::Filter& filter, bool all_accounts) {
  const postgres::Statement accounts{
      "prune_" + table.name(),
      fmt::format(
          "WITH RECURSIVE s(id) AS ((SELECT min(t.actor_id) FROM {0} AS t WHERE t.actor_id "
          "> $1::int8) UNION ALL SELECT (SELECT min(t.actor_id) FROM {0} AS t WHERE "
          "t.actor_id > s.id) FROM s WHERE s.id IS NOT NULL) SELECT s.id, a.did FROM (SELECT "
          "s.id FROM s WHERE s.id IS NOT NULL LIMIT 1000) AS s JOIN bsky.actors AS a ON a.id "
          "= s.id ORDER BY s.id",
          table.name())};
  std::size_t rows = 0;
  AccountNumber last = std::numeric_limits<AccountNumber>::min();
  for (;;) {
    const auto found = session.query<StoredAccount>(accounts, last);
    if (found.empty()) return rows;
    for (const auto& [id, did] : found) {
      if (all_accounts || !filter.passes_did(did)) {
        rows += writer::discard_rows(session, table, did, id);
      }
    }
    last = found.back().id;
  }
}

/// Removes the rows of collections without a table that do not pass the filter.
std::size_t prune_collections(postgres::Session& session, const tables::Filter& filter) {
  const postgres::Rows collections =
      session.run("SELECT id, nsid FROM bsky.collections WHERE id >= 1000 ORDER BY id");
  std::size_t rows = 0;
  for (std::size_t i = 0; i < collections.size(); ++i) {
    const std::string nsid(collections.text(i, 1));
    if (filter.passes_collection(nsid)) continue;
    for (;;) {
      postgres::Transaction transaction(session);
      const writer::ExpiredCounts found = writer::discard_expired(
          session, nullptr, nsid,
          {.collection_id = collections.int4(i, 0),
           .before = session.run("SELECT clock_timestamp() + interval '1 day'").timestamp(0, 0),
           .limit = kRowsAtOnce});
      transaction.commit();
      rows += found.in_records;
      if (found.in_records < kRowsAtOnce) break;
    }
  }
  return rows;
}

}  // namespace

std::vector<Rule> read_rules(postgres::Session& session) {
  return session.query<Rule>(sql::retention_rules);
}

std::size_t purge_deleted(postgres::Session& session, const std::stop_token& stop,
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

std::size_t remove_excluded(postgres::Session& session, Due due, RemovalMetrics& metrics) {
  const auto excluded = session.query<ExcludedAccount>(sql::retention_excluded, due == Due::Now);
  for (const auto& [did, actor_id] : excluded) {
    if (actor_id) metrics.excluded += writer::discard_account(session, did, *actor_id);
    crash_point("excluded_removed");
    session.execute(sql::retention_removed, did);
  }
  return excluded.size();
}

std::string next_expiring(postgres::Session& session) {
  return session.query_first<std::string>(sql::retention_next).value_or("");
}

ExpiryStep expire_step(postgres::Session& session, const std::string& collection,
                       RemovalMetrics& metrics) {
  postgres::Transaction transaction(session);
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

Remover::Remover(postgres::Runtime& runtime, const filter::CurrentFilter& filter,
                 std::chrono::milliseconds interval)
    : filter_(filter),
      interval_(interval),
      thread_(runtime,
              {.session_name = postgres::process_name("skua retention"),
               .component = "retention",
               .failure = "old rows and rows of deleted and excluded accounts stay"},
              [this](postgres::LazySession& session, const std::stop_token& stop) {
                remove(session.get(), stop);
                return interval_;
              }) {}

void Remover::remove(postgres::Session& session, const std::stop_token& stop) {
  while (purge_deleted(session, stop, metrics_) > 0) {
  }
  if (filter_.get()->limits().empty()) return;
  while (!stop.stop_requested() && remove_excluded(session, Due::Usual, metrics_) > 0) {
  }
  const std::string collection = next_expiring(session);
  if (collection.empty()) return;
  postgres::PassBudget budget;
  while (!stop.stop_requested()) {
    const ExpiryStep step = expire_step(session, collection, metrics_);
    if (!budget.spend(step.bytes, step.table_bytes) || step.is_end) break;
  }
}

std::size_t prune(postgres::Session& session, const tables::Filter& filter) {
  std::size_t rows = prune_collections(session, filter);
  rows += prune_table(session, writer::records_table(), filter, false);
  records::for_each_collection([&]<class T>() {
    if (const auto* table = writer::table_of(T::kCollectionId)) {
      rows += prune_table(session, *table, filter, !filter.passes_collection(T::kCollection));
    }
  });
  return rows;
}

}  // namespace skua::retention
