#include "recheck/row_check.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "atproto/cid.hpp"
#include "postgres/locks.hpp"
#include "records/record.hpp"
#include "writer/account_locks.hpp"

namespace skua::recheck {

namespace {

/// The number of rows whose JSON one statement makes.
constexpr std::size_t kRowsOfStep = 500;

/// A table and the collection of the rows to check in it. The table `bsky.records` has many
/// collections; nothing stands for all of them.
struct CheckedTable {
  const writer::TableWriter* table = nullptr;
  std::optional<std::int32_t> collection_id;
};

std::vector<CheckedTable> checked_tables(const RowScope& scope) {
  std::vector<CheckedTable> tables = {{&writer::records_table(), scope.collection_id}};
  for (int id = 1; id <= static_cast<int>(records::kTypedCollections); ++id) {
    if (scope.collection_id && *scope.collection_id != id) continue;
    if (const auto* table = writer::table_of(id)) tables.push_back({table, std::nullopt});
  }
  return tables;
}

std::string condition_of(const CheckedTable& checked) {
  return checked.collection_id ? fmt::format(" AND p.collection_id = {}", *checked.collection_id)
                               : std::string();
}

/// Returns the places of the rows in some blocks of a table.
std::vector<std::string> places_of_blocks(postgres::Session& session, const CheckedTable& checked,
                                          std::int64_t first, std::int64_t end) {
  return session.query<std::string>(
      {fmt::format("row_check_places_{}_{}", checked.table->name(),
                   checked.collection_id.value_or(0)),
       fmt::format("SELECT p.ctid::text FROM {} AS p WHERE p.ctid >= $1::text::tid AND "
                   "p.ctid < $2::text::tid AND p.cid IS NOT NULL{} ORDER BY p.ctid",
                   checked.table->name(), condition_of(checked))},
      Place{.block = first}.text(), Place{.block = end}.text());
}

/// Returns the places of the rows of an account.
std::vector<std::string> places_of_account(postgres::Session& session, const CheckedTable& checked,
                                           AccountNumber actor_id) {
  return session.query<std::string>(
      {fmt::format("row_check_account_{}_{}", checked.table->name(),
                   checked.collection_id.value_or(0)),
       fmt::format("SELECT p.ctid::text FROM {} AS p WHERE p.actor_id = $1::int8 AND "
                   "p.cid IS NOT NULL{} ORDER BY p.ctid",
                   checked.table->name(), condition_of(checked))},
      actor_id);
}

std::int64_t blocks_of(postgres::Session& session, const std::string& table) {
  return session
      .execute({"row_check_blocks",
                "SELECT pg_relation_size($1::text::regclass) / "
                "current_setting('block_size')::int8"},
               table)
      .int8(0, 0);
}

class Check {
 public:
  Check(postgres::Session& session, const RowScope& scope,
        const std::function<void(FaultyRow)>& found,
        const std::function<bool(const RowProgress&)>& progress)
      : session_(session), scope_(scope), found_(found), progress_(progress) {}

  std::size_t run() {
    if (scope_.actor_id) {
      check_account();
    } else if (scope_.sample) {
      check_sample();
    } else {
      check_all();
    }
    return state_.rows;
  }

 private:
  /// Checks the rows at some places. Returns false if the check must end.
  bool check(const writer::TableWriter& table, std::span<const std::string> places) {
    while (!places.empty()) {
      const std::size_t count = std::min(places.size(), kRowsOfStep);
      for (StoredRow& row : read_rows(session_, table, places.first(count))) {
        ++state_.rows;
        if (auto reason = row_fault(row)) {
          found_({&table, std::move(row), std::move(*reason)});
        }
      }
      places = places.subspan(count);
      if (!progress_(state_)) return false;
    }
    return true;
  }

  void check_account() {
    const auto tables = checked_tables(scope_);
    std::vector<std::pair<const writer::TableWriter*, std::string>> places;
    for (const CheckedTable& checked : tables) {
      for (std::string& place : places_of_account(session_, checked, *scope_.actor_id)) {
        places.emplace_back(checked.table, std::move(place));
      }
    }
    if (scope_.sample && *scope_.sample < places.size()) {
      std::shuffle(places.begin(), places.end(), random_);
      places.resize(*scope_.sample);
      std::sort(places.begin(), places.end());
    }
    for (std::size_t i = 0; i < places.size();) {
      const auto* table = places[i].first;
      std::vector<std::string> step;
      for (; i < places.size() && places[i].first == table && step.size() < kRowsOfStep; ++i) {
        step.push_back(places[i].second);
      }
      state_.part = static_cast<double>(i) / static_cast<double>(places.size());
      if (!check(*table, step)) return;
    }
  }

  void check_all() {
    constexpr std::int64_t kBlocksOfStep = 128;
    const auto tables = checked_tables(scope_);
    std::vector<std::int64_t> sizes;
    std::int64_t all = 0;
    for (const CheckedTable& checked : tables) {
      sizes.push_back(blocks_of(session_, checked.table->name()));
      all += sizes.back();
    }
    std::int64_t read = 0;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      for (std::int64_t block = 0; block < sizes[i]; block += kBlocksOfStep) {
        const std::int64_t end = std::min(block + kBlocksOfStep, sizes[i]);
        const auto places = places_of_blocks(session_, tables[i], block, end);
        read += end - block;
        state_.part =
            static_cast<double>(read) / static_cast<double>(std::max<std::int64_t>(all, 1));
        if (!check(*tables[i].table, places)) return;
      }
    }
  }

  /// Reads blocks at random until the sample is large enough. A block is read once.
  void check_sample() {
    const auto tables = checked_tables(scope_);
    std::vector<std::int64_t> ends;
    ends.reserve(tables.size());
    for (const CheckedTable& checked : tables) {
      ends.push_back((ends.empty() ? 0 : ends.back()) + blocks_of(session_, checked.table->name()));
    }
    std::set<std::int64_t> seen;
    while (state_.rows < *scope_.sample && static_cast<std::int64_t>(seen.size()) < ends.back()) {
      const std::int64_t block = next_block(ends.back(), seen);
      const auto table = static_cast<std::size_t>(
          std::upper_bound(ends.begin(), ends.end(), block) - ends.begin());
      const std::int64_t first = block - (table == 0 ? 0 : ends[table - 1]);
      auto places = places_of_blocks(session_, tables[table], first, first + 1);
      // Of each block a few rows only, so that the sample has many blocks.
      constexpr std::size_t kRowsOfBlock = 8;
      std::shuffle(places.begin(), places.end(), random_);
      places.resize(std::min({places.size(), kRowsOfBlock, *scope_.sample - state_.rows}));
      state_.part = static_cast<double>(state_.rows) / static_cast<double>(*scope_.sample);
      if (!check(*tables[table].table, places)) return;
    }
  }

  /// Returns a block that was not seen. When most blocks were seen, the next one is taken.
  std::int64_t next_block(std::int64_t blocks, std::set<std::int64_t>& seen) {
    std::int64_t block = std::uniform_int_distribution<std::int64_t>(0, blocks - 1)(random_);
    while (!seen.insert(block).second) block = (block + 1) % blocks;
    return block;
  }

  postgres::Session& session_;
  const RowScope scope_;
  const std::function<void(FaultyRow)>& found_;
  const std::function<bool(const RowProgress&)>& progress_;
  std::mt19937_64 random_{std::random_device{}()};
  RowProgress state_;
};

}  // namespace

std::string FaultyRow::uri() const {
  return fmt::format("at://{}/{}/{}", row.did, row.collection, row.rkey);
}

std::optional<std::string> row_fault(const StoredRow& row) {
  Bytes block;
  if (const auto encoded = append_block(row, block); !encoded) {
    return fmt::format("its JSON cannot be encoded: {}", encoded.error().message());
  }
  const auto cid = atproto::Cid::of(block);
  if (cid.digest == row.cid) return std::nullopt;
  return fmt::format("the row has the CID {}, and its record encodes to {}",
                     atproto::Cid{atproto::Cid::kDagCbor, row.cid}.to_string(), cid.to_string());
}

std::size_t check_rows(postgres::Session& session, const RowScope& scope,
                       const std::function<void(FaultyRow)>& found,
                       const std::function<bool(const RowProgress&)>& progress) {
  return Check(session, scope, found, progress).run();
}

std::size_t clear_cids(postgres::Session& session, std::span<const FaultyRow> rows) {
  std::size_t changed = 0;
  for (const FaultyRow& faulty : rows) {
    const bool has_collections = faulty.table->collection_id() == 0;
    postgres::Transaction transaction(session);
    postgres::lock_xact(session, writer::locks_of_account(session, faulty.row.did));
    changed +=
        session
            .execute({"row_check_clear_" + faulty.table->name(),
                      fmt::format("UPDATE {} AS t SET cid = decode(repeat('00', 32), 'hex') WHERE "
                                  "t.actor_id = $1::int8 AND t.rkey = $2::int8 AND t.cid = "
                                  "$3::bytea AND {} = $4::int4",
                                  faulty.table->name(),
                                  has_collections ? "t.collection_id" : "$4::int4")},
                     faulty.row.key.actor_id, faulty.row.key.rkey, ByteView(faulty.row.cid),
                     faulty.row.key.collection_id)
            .affected();
    transaction.commit();
  }
  return changed;
}

}  // namespace skua::recheck
