#include "status/account_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/account_number.hpp"
#include "records/record.hpp"
#include "status/account_counts.sql.hpp"
#include "writer/table_writer.hpp"

namespace skua::status {
namespace {

using store::Params;
using store::Rows;
using store::Session;

constexpr std::int64_t kCountedOneByOne = 100'000;

std::int64_t projected(std::size_t counted, double share) {
  return std::llround(static_cast<double>(counted) / share);
}

/// Those of the accounts, sorted, that have a record in any table.
std::set<AccountNumber> with_records(Session& session, const std::vector<AccountNumber>& actors) {
  // Whatever the revision.
  const std::vector<std::int64_t> any(actors.size(), std::numeric_limits<std::int64_t>::max());
  std::set<AccountNumber> found;
  const auto look = [&](const writer::TableWriter& table) {
    const auto some = table.actors_with_rows_before(session, actors, any);
    found.insert(some.begin(), some.end());
  };
  look(writer::records_table());
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (const writer::TableWriter* table = writer::table_of(id)) look(*table);
  }
  return found;
}

}  // namespace

RepositoryCounts repository_counts(Session& session, std::int64_t sampled_blocks) {
  RepositoryCounts counts;
  const std::int64_t blocks = session.execute(sql::repository_counts_blocks, {}).int8(0, 0);
  counts.exact = blocks <= sampled_blocks;
  const double share =
      counts.exact ? 1.0 : static_cast<double>(sampled_blocks) / static_cast<double>(blocks);
  const Rows sampled = session.run(
      fmt::format("SELECT state, count(*) FROM skua.repositories TABLESAMPLE SYSTEM ({}) "
                  "GROUP BY state",
                  share * 100));
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    counts.by_state[std::string(sampled.text(i, 0))] =
        projected(static_cast<std::size_t>(sampled.int8(i, 1)), share);
  }
  Params limit;
  limit.int8(kCountedOneByOne);
  const Rows waiting = session.execute(sql::repository_counts_waiting, limit);
  if (const std::int64_t count = waiting.int8(0, 0); count == 0) {
    counts.by_state.erase("desynchronized");
  } else if (count < kCountedOneByOne) {
    counts.by_state["desynchronized"] = count;
  }
  counts.resyncs_failed = waiting.int8(0, 1);
  return counts;
}

AccountCounts account_counts(Session& session, std::int32_t sampled) {
  AccountCounts counts;
  const AccountNumber newest = session.execute(sql::account_counts_newest, {}).int8(0, 0);
  counts.exact = newest <= sampled;
  Params params;
  params.int8(newest).int4(sampled);
  const Rows rows = session.execute(sql::account_counts_sample, params);
  if (rows.empty()) return counts;
  const double share = static_cast<double>(rows.size()) / static_cast<double>(newest);
  std::vector<AccountNumber> known;
  std::set<AccountNumber> chained;
  std::map<std::string, std::size_t> hidden;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows.boolean(i, 1)) continue;
    known.push_back(rows.int8(i, 0));
    if (!rows.boolean(i, 2)) hidden[std::string(rows.text(i, 3))] += 1;
    if (rows.boolean(i, 4)) chained.insert(rows.int8(i, 0));
  }
  const std::set<AccountNumber> stored = with_records(session, known);
  const auto is_unchained = [&](AccountNumber actor) { return !chained.contains(actor); };
  counts.known = projected(known.size(), share);
  counts.with_records = projected(stored.size(), share);
  counts.without_chain = projected(
      static_cast<std::size_t>(std::count_if(stored.begin(), stored.end(), is_unchained)), share);
  for (const auto& [status, count] : hidden) counts.hidden[status] = projected(count, share);
  return counts;
}

}  // namespace skua::status
