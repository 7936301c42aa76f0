#include "retention/prune.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "records/record.hpp"
#include "writer/discard.hpp"
#include "writer/table_writer.hpp"

namespace skua::retention {
namespace {

/// Each may need the lock of another account, and the server's table of locks is small.
constexpr std::size_t kRowsAtOnce = 1'000;

struct StoredAccount {
  AccountNumber id;
  std::string did;
};

/// Removes the rows of accounts that do not pass, or of all accounts. The statement finds each
/// account with rows in the table by the primary key, and skips its other rows.
std::size_t prune_table(store::Session& session, const writer::TableWriter& table,
                        const store::Filter& filter, bool all_accounts) {
  const store::Statement accounts{
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

/// Removes the rows of collections without a table that do not pass.
std::size_t prune_collections(store::Session& session, const store::Filter& filter) {
  const store::Rows collections =
      session.run("SELECT id, nsid FROM bsky.collections WHERE id >= 1000 ORDER BY id");
  std::size_t rows = 0;
  for (std::size_t i = 0; i < collections.size(); ++i) {
    const std::string nsid(collections.text(i, 1));
    if (filter.passes_collection(nsid)) continue;
    for (;;) {
      store::Transaction transaction(session);
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

std::size_t prune(store::Session& session, const store::Filter& filter) {
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
