#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.hpp"
#include "base/time.hpp"
#include "feed/projections/projection.hpp"
#include "query_note.hpp"
#include "store/filter_table.hpp"
#include "store/first_column.hpp"

namespace skua::cli {
namespace {

/// The tables of bsky that the transaction has read. Sequential scans and index scans count from
/// their beginning.
std::vector<std::string> tables_read(store::Session& session) {
  return store::first_column(
      session.run("SELECT relname FROM pg_stat_xact_user_tables WHERE schemaname = 'bsky' AND "
                  "coalesce(seq_scan, 0) + coalesce(idx_scan, 0) > 0"));
}

/// The tables of bsky that a projection is computed from.
void add_tables_of(const feed::Projection& projection, std::set<std::string>& tables) {
  constexpr std::string_view kSchema = "bsky.";
  for (const std::string& statement : projection.fill) {
    for (std::size_t at = statement.find(kSchema); at != statement.npos;
         at = statement.find(kSchema, at)) {
      at += kSchema.size();
      const auto begin = statement.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end = std::find_if(
          begin, statement.end(), [](unsigned char c) { return std::islower(c) == 0 && c != '_'; });
      tables.emplace(begin, end);
    }
  }
}

/// The collections whose records the answer depends on: the comment of a table of records names its
/// collection.
std::vector<std::string> collections_read(store::Session& session, const NamedQuery& query) {
  std::set<std::string> tables;
  for (std::string& table : tables_read(session)) tables.insert(std::move(table));
  for (const QueryNeed& need : query.needs) {
    if (need.kind != QueryNeed::Kind::Projection) continue;
    if (const auto* const projection = feed::find_projection(need.name)) {
      add_tables_of(*projection, tables);
    }
  }
  return store::first_column(session.run(fmt::format(
      "SELECT c.nsid FROM pg_class AS t JOIN bsky.collections AS c ON c.nsid = "
      "substring(obj_description(t.oid, 'pg_class') FROM 'the records of "
      "([a-z]+(?:\\.[a-zA-Z]+)+)') WHERE "
      "t.relnamespace = 'bsky'::regnamespace AND t.relkind = 'r' AND t.relname = ANY ('{{{}}}') "
      "ORDER BY 1",
      fmt::join(tables, ","))));
}

void add_filter_notes(const store::Filter& filter, const std::vector<std::string>& collections,
                      const Invocation& invocation, std::vector<QueryNote>& notes) {
  std::vector<std::string> left_out;
  for (const std::string& collection : collections) {
    if (!filter.passes_collection(collection)) left_out.push_back(collection);
  }
  const std::string show = invocation.command_to_copy("filter show");
  if (!left_out.empty()) {
    notes.push_back({fmt::format("the filter leaves out {}: their records are missing",
                                 fmt::join(left_out, ", ")),
                     {show}});
  }
  if (const auto accounts = static_cast<std::int64_t>(filter.content().dids.size());
      accounts > 0 && !collections.empty()) {
    notes.push_back({fmt::format("the filter lets only {} through: records of others are missing",
                                 counted(accounts, "account")),
                     {show}});
  }
  std::vector<std::string> kept;
  for (const store::KeepTime& limit : filter.limits().retention) {
    if (std::find(collections.begin(), collections.end(), limit.collection) == collections.end()) {
      continue;
    }
    kept.push_back(fmt::format("{} for {}", limit.collection, duration_text(limit.keep)));
  }
  if (!kept.empty()) {
    notes.push_back({fmt::format("records are kept for a limited time: {}", fmt::join(kept, ", ")),
                     {invocation.command_to_copy("retention list")}});
  }
}

}  // namespace

std::vector<QueryNote> missing_records(store::Session& session, const NamedQuery& query,
                                       const Invocation& invocation) {
  std::vector<QueryNote> notes;
  const auto collections = collections_read(session, query);
  add_filter_notes(*store::load_filter(session), collections, invocation, notes);
  return notes;
}

std::vector<QueryNote> missing_work(store::Session& session, const Invocation& invocation) {
  constexpr std::chrono::minutes kLate{10};
  std::vector<QueryNote> notes;
  const auto dropped = session.run("SELECT count(*) FROM skua.dropped_indexes").int8(0, 0);
  if (dropped > 0) {
    notes.push_back({fmt::format("a bootstrap has not ended, and {} {} missing: records are "
                                 "missing, queries are slow, and no projection is built until its "
                                 "end",
                                 counted(dropped, "index"), dropped == 1 ? "is" : "are"),
                     {invocation.command_to_copy("backfill status")}});
  }
  // A relay sends records; labelers do not.
  const store::Rows newest = session.run(
      "SELECT to_char(max(event_time), 'YYYY-MM-DD HH24:MI:SS'), extract(epoch FROM "
      "clock_timestamp() - max(event_time))::int8 FROM skua.cursors WHERE source NOT LIKE "
      "'labeler:%' AND event_time > 'epoch' HAVING max(event_time) IS NOT NULL");
  if (!newest.empty() && std::chrono::seconds(newest.int8(0, 1)) > kLate) {
    notes.push_back(
        {fmt::format("the sources are read up to {} UTC, {} ago: later records are "
                     "missing. `skua run` reads them",
                     newest.text(0, 0), duration_text(std::chrono::seconds(newest.int8(0, 1)))),
         {invocation.command_to_copy("status")}});
  }
  return notes;
}

}  // namespace skua::cli
