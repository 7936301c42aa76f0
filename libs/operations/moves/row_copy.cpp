#include "moves/row_copy.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "moves/group_move.sql.hpp"

namespace skua::moves {
namespace {

constexpr std::string_view kPosts = "bsky.posts";

/// The tables with a row for each account, by DID.
constexpr std::array<std::string_view, 4> kStates = {"skua.identities", "skua.repositories",
                                                     "skua.backfill_jobs", "skua.purges"};

/// `groups` is the list of a GroupSet.
std::string in_groups(const std::string& groups) {
  return fmt::format(" AS t WHERE bsky.account_group(t.did) = ANY ('{{{}}}'::int4[])", groups);
}

std::string in_range(const std::string& column, const AccountRange& range) {
  return fmt::format("t.{} BETWEEN {} AND {}", column, range.first, range.last);
}

}  // namespace

std::vector<AccountRange> account_ranges(const atproto::GroupSet& groups,
                                         std::uint32_t parts_of_group) {
  constexpr std::uint64_t kWidth = std::uint64_t{1} << kComputedBits;
  const std::uint64_t width = kWidth / parts_of_group;
  std::vector<AccountRange> ranges;
  for (unsigned group = 0; group < kAccountGroups; ++group) {
    if (!groups.has(static_cast<AccountGroup>(group))) continue;
    for (std::uint32_t part = 0; part < parts_of_group; ++part) {
      const std::uint64_t first = group * kWidth + part * width;
      ranges.push_back(
          {static_cast<AccountNumber>(first), static_cast<AccountNumber>(first + width - 1)});
    }
  }
  return ranges;
}

std::vector<NumberedTable> numbered_tables(postgres::Session& session) {
  auto tables = session.query<NumberedTable>(sql::moves_tables);
  tables.push_back({"skua.tombstones", "actor_id",
                    "rkey, rev, seq, actor_id, collection_id, source",
                    "t.rkey, t.rev, t.seq, t.actor_id, t.collection_id, t.source"});
  const std::string columns = "sort_at, rkey, actor_id, post_rkey, post_actor, distance, is_new";
  tables.push_back({"skua.replies_below", "post_actor", columns, columns});
  return tables;
}

RowCopy::RowCopy(postgres::Session& from, postgres::Session& to)
    : from_(from), to_(to), tables_(numbered_tables(from)) {}

std::uint64_t RowCopy::send(const std::string& query, const std::string& target) {
  std::uint64_t rows = 0;
  to_.copy_in(target, [&](const postgres::Session::PutCopy& put) {
    rows = from_.copy_out(query, "FORMAT text", put);
  });
  return rows;
}

std::uint64_t RowCopy::merge(const std::string& table, const std::string& key, Existing existing,
                             const std::vector<std::string>& left_out,
                             const std::string& from_where, const std::string& overrides) {
  const auto columns = from_.query<std::string>(sql::moves_columns, table, left_out);
  std::vector<std::string> values;
  std::vector<std::string> replaced;
  for (const std::string& column : columns) {
    values.push_back("t." + column);
    if (column != key) replaced.push_back(fmt::format("{0} = EXCLUDED.{0}", column));
  }
  const std::string list = fmt::format("{}", fmt::join(columns, ", "));
  to_.run(fmt::format("CREATE TEMP TABLE arriving ON COMMIT DROP AS SELECT {} FROM {} WHERE false",
                      list, table));
  const std::uint64_t rows =
      send(fmt::format("SELECT {} FROM {}", fmt::join(values, ", "), from_where),
           fmt::format("arriving ({})", list));
  if (!overrides.empty()) to_.run("UPDATE arriving SET " + overrides);
  to_.run(fmt::format(
      "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM arriving "
      "ORDER BY {} ON CONFLICT ({}) DO {}",
      table, list, list, key, key,
      existing == Existing::Keep ? std::string("NOTHING")
                                 : fmt::format("UPDATE SET {}", fmt::join(replaced, ", "))));
  to_.run("DROP TABLE arriving");
  return rows;
}

std::uint64_t RowCopy::copy_part(const AccountRange& range) {
  std::uint64_t rows = 0;
  for (const NumberedTable& table : tables_) {
    const std::string condition = in_range(table.key_column, range);
    // Only a move that brought the group here before has left rows: posts on whose first CID
    // records of this node rely.
    if (table.name == kPosts) {
      to_.run(fmt::format(
          "CREATE TEMP TABLE former_posts ON COMMIT DROP AS SELECT t.actor_id, t.rkey, "
          "t.indexed_at, coalesce(t.first_cid, t.cid) AS first_cid FROM bsky.posts AS t WHERE {}",
          condition));
    }
    to_.run(fmt::format("DELETE FROM {} AS t WHERE {}", table.name, condition));
    rows +=
        send(fmt::format("SELECT {} FROM {} AS t WHERE {}", table.values, table.name, condition),
             fmt::format("{} ({})", table.name, table.columns));
  }
  to_.run(
      "UPDATE bsky.posts AS p SET first_cid = nullif(f.first_cid, p.cid) FROM former_posts AS f "
      "WHERE p.actor_id = f.actor_id AND p.rkey = f.rkey AND f.first_cid IS NOT NULL");
  to_.run(
      "INSERT INTO bsky.posts (actor_id, rkey, rev, indexed_at, first_cid) SELECT f.actor_id, "
      "f.rkey, -1, f.indexed_at, f.first_cid FROM former_posts AS f WHERE f.first_cid IS NOT NULL "
      "ON CONFLICT DO NOTHING");
  to_.run("DROP TABLE former_posts");
  rows += merge("bsky.rkeys", "actor_id, collection_id, rkey", Existing::Keep, {},
                "bsky.rkeys AS t WHERE " + in_range("actor_id", range));
  rows += merge("bsky.actors", "id", Existing::Replace, {},
                "bsky.actors AS t WHERE " + in_range("id", range));
  const std::string mentions =
      fmt::format("skua.mentions_of({}, {}) AS m", range.first, range.last);
  merge("bsky.actors", "id", Existing::Keep,
        {"floor_rev", "handle_time", "status_time", "active", "handle", "status",
         "handle_check_due", "handle_valid", "handle_claim", "handle_lookups_charged_to"},
        "(SELECT DISTINCT m.actor_id FROM " + mentions +
            ") AS m JOIN bsky.actors AS t ON t.id = m.actor_id");
  merge("bsky.rkeys", "actor_id, collection_id, rkey", Existing::Keep, {},
        "(SELECT DISTINCT m.actor_id, m.collection_id, m.rkey FROM " + mentions +
            " WHERE m.rkey < 0) AS m JOIN bsky.rkeys AS t USING (actor_id, collection_id, rkey)");
  return rows;
}

std::uint64_t RowCopy::copy_states(const atproto::GroupSet& groups) {
  const std::string condition = in_groups(groups.list());
  merge("bsky.collections", "id", Existing::Keep, {}, "bsky.collections AS t WHERE t.id >= 1000");
  std::uint64_t rows = 0;
  for (const std::string_view table : kStates) {
    // The lease of a running job belongs to a process of the other node.
    const bool has_leases = table == "skua.backfill_jobs";
    rows += merge(std::string(table), "did", Existing::Replace, {}, std::string(table) + condition,
                  has_leases ? "state = CASE state WHEN 'running' THEN 'queued' ELSE state END, "
                               "lease_until = NULL, lease_owner = NULL"
                             : "");
  }
  rows += merge("skua.dead_letter", "consumer, key", Existing::Keep, {"id"},
                "skua.dead_letter" + condition + " AND t.did <> '' AND t.consumer = 'indexer'",
                "status = CASE status WHEN 'replaying' THEN 'dead' ELSE status END, "
                "lease_until = NULL, lease_owner = NULL");
  return rows;
}

RowRemoval::RowRemoval(postgres::Session& session, const atproto::GroupSet& groups)
    : session_(session), groups_(groups.list()) {
  for (NumberedTable& table : numbered_tables(session)) {
    if (table.name != kPosts) tables_.push_back(std::move(table));
  }
  std::vector<std::string> emptied;
  for (const std::string& column :
       session.query<std::string>(sql::moves_columns, kPosts,
                                  std::vector<std::string>{"actor_id", "rkey", "rev", "indexed_at",
                                                           "first_cid", "is_deleted"})) {
    emptied.push_back(column + " = NULL");
  }
  emptied_posts_ = fmt::format("{}", fmt::join(emptied, ", "));
}

void RowRemoval::remove_part(const AccountRange& range) {
  for (const NumberedTable& table : tables_) {
    session_.run(
        fmt::format("DELETE FROM {} AS t WHERE {}", table.name, in_range(table.key_column, range)));
  }
  session_.execute(sql::moves_remove_posts, range.first, range.last, groups_);
  session_.run(
      fmt::format("UPDATE bsky.posts AS t SET first_cid = coalesce(first_cid, cid), rev = "
                  "-1, is_deleted = false, {} WHERE {} AND (cid IS NOT NULL OR rev <> -1)",
                  emptied_posts_, in_range("actor_id", range)));
  session_.execute(sql::moves_forget_accounts, range.first, range.last);
}

void RowRemoval::remove_states() {
  const std::string condition = in_groups(groups_);
  for (const std::string_view table : kStates) {
    session_.run(fmt::format("DELETE FROM {}{}", table, condition));
  }
  session_.run("DELETE FROM skua.dead_letter" + condition +
               " AND t.did <> '' AND t.consumer = 'indexer'");
}

}  // namespace skua::moves
