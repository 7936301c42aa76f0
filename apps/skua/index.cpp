#include "index.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "app/database.hpp"
#include "command_line/finish.hpp"
#include "command_line/table.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

constexpr const char* kSortAt = "least(created_at, indexed_at)";

store::Session index_session(const Settings& settings, const IndexFlags& flags) {
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  return {url, store::process_name("skua index")};
}

const OptionalIndex& chosen_index(const IndexFlags& flags) {
  if (const OptionalIndex* const index = find_optional_index(flags.name)) return *index;
  throw UsageError(
      fmt::format("there is no optional index '{}'; `skua index list` lists them", flags.name));
}

std::string size_text(const IndexState& state) {
  switch (state.progress) {
    case IndexState::Progress::Missing:
      return "-";
    case IndexState::Progress::Building:
      return "being built";
    case IndexState::Progress::Incomplete:
      return "incomplete";
    case IndexState::Progress::Complete:
      break;
  }
  return state.size;
}

void drop(store::Session& session, const OptionalIndex& index) {
  session.run(fmt::format("DROP INDEX CONCURRENTLY IF EXISTS bsky.{}", index.index));
  session.run(fmt::format("DROP STATISTICS IF EXISTS bsky.{}", index.index));
}

}  // namespace

const std::vector<OptionalIndex>& optional_indexes() {
  static const std::vector<OptionalIndex> indexes = {
      {"search", "posts_search", "posts", "gin", "to_tsvector('simple', text)",
       "bsky.search finds all posts", "about 90 bytes a post"},
      {"backlinks", "records_links", "records", "gin", "bsky.record_links(record)",
       "bsky.backlinks finds all collections", "about 100 bytes a link"},
      {"like-times", "likes_sort_at", "likes", "btree", kSortAt, "likes by time",
       "about 22 bytes a row"},
      {"repost-times", "reposts_sort_at", "reposts", "btree", kSortAt, "reposts by time",
       "about 22 bytes a row"},
      {"follow-times", "follows_sort_at", "follows", "btree", kSortAt, "follows by time",
       "about 22 bytes a row"},
  };
  return indexes;
}

const OptionalIndex* find_optional_index(std::string_view name) {
  const auto& all = optional_indexes();
  const auto found = std::find_if(
      all.begin(), all.end(), [name](const OptionalIndex& index) { return name == index.name; });
  return found == all.end() ? nullptr : &*found;
}

IndexState read_index_state(store::Session& session, const OptionalIndex& index) {
  // A role without rights on the table sees that a build runs in the database, not of which index.
  const store::Rows rows = session.run(fmt::format(
      "SELECT i.indisvalid, pg_size_pretty(pg_relation_size(i.indexrelid)), EXISTS (SELECT FROM "
      "pg_stat_progress_create_index AS p WHERE p.datname = current_database() AND "
      "coalesce(p.index_relid, i.indexrelid) = i.indexrelid) FROM pg_index AS i "
      "WHERE i.indexrelid = to_regclass('bsky.{}')",
      index.index));
  if (rows.empty()) return {};
  IndexState state{.progress = IndexState::Progress::Complete,
                   .size = std::string(rows.text(0, 1))};
  if (!rows.boolean(0, 0)) {
    state.progress =
        rows.boolean(0, 2) ? IndexState::Progress::Building : IndexState::Progress::Incomplete;
  }
  return state;
}

int index_list(const Settings& settings, const IndexFlags& flags) {
  store::Session session = index_session(settings, flags);
  command_line::Table table({{"name"}, {"size"}, {"use"}, {"cost"}});
  for (const OptionalIndex& index : optional_indexes()) {
    table.add({index.name, size_text(read_index_state(session, index)), index.use, index.cost});
  }
  fmt::print("{}", table.text());
  return kSuccess;
}

int index_add(const Settings& settings, const IndexFlags& flags) {
  const OptionalIndex& index = chosen_index(flags);
  store::Session session = index_session(settings, flags);
  // A concurrent build waits for the transactions that run.
  session.limit_lock_waits(std::chrono::milliseconds(0));
  using Progress = IndexState::Progress;
  const Progress before = read_index_state(session, index).progress;
  if (before == Progress::Building) {
    command_line::print_stderr("skua index add: {} is being built by another process\n",
                               index.name);
    return kFailure;
  }
  if (before == Progress::Incomplete) drop(session, index);
  if (before != Progress::Complete) {
    session.run(fmt::format("CREATE INDEX CONCURRENTLY {} ON bsky.{} USING {} (({}))", index.index,
                            index.table, index.method, index.expression));
  }
  // The planner uses the statistics of an expression also for other plans.
  session.run(fmt::format("CREATE STATISTICS IF NOT EXISTS bsky.{} ON ({}) FROM bsky.{}",
                          index.index, index.expression, index.table));
  session.run(fmt::format("ANALYZE bsky.{}", index.table));
  fmt::print("{}: {}\n", index.name, read_index_state(session, index).size);
  return kSuccess;
}

int index_remove(const Settings& settings, const IndexFlags& flags) {
  const OptionalIndex& index = chosen_index(flags);
  store::Session session = index_session(settings, flags);
  session.limit_lock_waits(std::chrono::milliseconds(0));
  const bool existed = read_index_state(session, index).progress != IndexState::Progress::Missing;
  drop(session, index);
  fmt::print("{}: {}\n", index.name, existed ? "removed" : "did not exist");
  return kSuccess;
}

}  // namespace skua::cli
