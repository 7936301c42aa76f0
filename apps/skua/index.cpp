#include "index.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "app/database.hpp"
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
  const auto& all = optional_indexes();
  const auto found = std::find_if(all.begin(), all.end(), [&flags](const OptionalIndex& index) {
    return flags.name == index.name;
  });
  if (found == all.end()) {
    throw UsageError(
        fmt::format("there is no optional index '{}'; `skua index list` lists them", flags.name));
  }
  return *found;
}

struct IndexState {
  bool exists = false;
  /// False: a build runs or was interrupted.
  bool is_valid = false;
  std::string size;
};

IndexState read_state(store::Session& session, const OptionalIndex& index) {
  const store::Rows rows = session.run(fmt::format(
      "SELECT i.indisvalid, pg_size_pretty(pg_relation_size(i.indexrelid)) FROM pg_index AS i "
      "WHERE i.indexrelid = to_regclass('bsky.{}')",
      index.index));
  if (rows.empty()) return {};
  return {.exists = true, .is_valid = rows.boolean(0, 0), .size = std::string(rows.text(0, 1))};
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

int index_list(const Settings& settings, const IndexFlags& flags) {
  store::Session session = index_session(settings, flags);
  command_line::Table table({{"name"}, {"size"}, {"use"}, {"cost"}});
  for (const OptionalIndex& index : optional_indexes()) {
    const IndexState state = read_state(session, index);
    table.add({index.name,
               !state.exists    ? "-"
               : state.is_valid ? state.size
                                : "incomplete",
               index.use, index.cost});
  }
  fmt::print("{}", table.text());
  return kSuccess;
}

int index_add(const Settings& settings, const IndexFlags& flags) {
  const OptionalIndex& index = chosen_index(flags);
  store::Session session = index_session(settings, flags);
  // A concurrent build waits for the transactions that run.
  session.limit_lock_waits(std::chrono::milliseconds(0));
  const IndexState before = read_state(session, index);
  if (before.exists && !before.is_valid) drop(session, index);
  if (!before.is_valid) {
    session.run(fmt::format("CREATE INDEX CONCURRENTLY {} ON bsky.{} USING {} (({}))", index.index,
                            index.table, index.method, index.expression));
  }
  // The planner uses the statistics of an expression also for other plans.
  session.run(fmt::format("CREATE STATISTICS IF NOT EXISTS bsky.{} ON ({}) FROM bsky.{}",
                          index.index, index.expression, index.table));
  session.run(fmt::format("ANALYZE bsky.{}", index.table));
  fmt::print("{}: {}\n", index.name, read_state(session, index).size);
  return kSuccess;
}

int index_remove(const Settings& settings, const IndexFlags& flags) {
  const OptionalIndex& index = chosen_index(flags);
  store::Session session = index_session(settings, flags);
  session.limit_lock_waits(std::chrono::milliseconds(0));
  const bool existed = read_state(session, index).exists;
  drop(session, index);
  fmt::print("{}: {}\n", index.name, existed ? "removed" : "did not exist");
  return kSuccess;
}

}  // namespace skua::cli
