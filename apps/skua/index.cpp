#include "index.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "command_line/display_text.hpp"
#include "command_line/finish.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "postgres/session.hpp"
#include "settings.hpp"

namespace skua::cli {
namespace {

constexpr const char* kSortAt = "least(created_at, indexed_at)";
constexpr const char* kSortAtColumn = "(least(created_at, indexed_at))";

/// Returns the columns of an index of the newest records with a reference.
std::string newest_of(std::string_view reference) {
  return fmt::format("{}, {}", reference, kSortAtColumn);
}

const Option<const OptionalIndex*> kIndex(
    {.name = "NAME",
     .meaning = "The name of an index, see `skua index list`",
     .known_values =
         [] {
           std::vector<std::pair<std::string, std::string>> names;
           for (const OptionalIndex& each : optional_indexes())
             names.emplace_back(each.name, each.use);
           return names;
         }},
    [](const SettingValue& given) {
      if (const OptionalIndex* const index = find_optional_index(given.value)) return index;
      throw UsageError(fmt::format("there is no optional index '{}'; `skua index list` lists them",
                                   given.value));
    });

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

void drop(postgres::Session& session, const OptionalIndex& index) {
  session.run(fmt::format("DROP INDEX CONCURRENTLY IF EXISTS bsky.{}", index.index));
  session.run(fmt::format("DROP STATISTICS IF EXISTS bsky.{}", index.index));
}

}  // namespace

const std::vector<OptionalIndex>& optional_indexes() {
  static const std::vector<OptionalIndex> indexes = {
      {"search", "posts_search", "posts", "gin", "(to_tsvector('simple', text))",
       "to_tsvector('simple', text)", "bsky.search finds all posts", "about 90 bytes a post"},
      {"backlinks", "records_links", "records", "gin", "(bsky.record_links(record))",
       "bsky.record_links(record)", "bsky.backlinks finds all collections",
       "about 100 bytes a link"},
      {"like-times", "likes_sort_at", "likes", "btree", kSortAtColumn, kSortAt, "likes by time",
       "about 22 bytes a row"},
      {"repost-times", "reposts_sort_at", "reposts", "btree", kSortAtColumn, kSortAt,
       "reposts by time", "about 22 bytes a row"},
      {"follow-times", "follows_sort_at", "follows", "btree", kSortAtColumn, kSortAt,
       "follows by time", "about 22 bytes a row"},
      {"newest-likes", "likes_newest", "likes", "btree", newest_of("subject_rkey"), nullptr,
       "the newest likes of a post with very many", "about 32 bytes a like"},
      {"newest-reposts", "reposts_newest", "reposts", "btree", newest_of("subject_rkey"), nullptr,
       "the newest reposts of a post with very many", "about 32 bytes a repost"},
      {"newest-followers", "follows_newest", "follows", "btree", newest_of("subject_actor"),
       nullptr, "the newest followers of an account with very many", "about 32 bytes a follow"},
      {"newest-members", "list_items_newest", "list_items", "btree", newest_of("list_rkey"),
       nullptr, "the newest accounts of a list with very many", "about 32 bytes a member"},
      {"created-at", "posts_created_at", "posts", "btree", "created_at", nullptr,
       "posts by created_at", "about 22 bytes a post"},
      {"names", "actors_name", "actors", "btree", "(coalesce(handle, did)) text_pattern_ops",
       "coalesce(handle, did)", "accounts by name, and by its beginning",
       "about 34 bytes an account"},
      {"display-names", "profiles_words", "profiles", "gin",
       "(to_tsvector('simple', display_name))", "to_tsvector('simple', display_name)",
       "accounts by words of their display names", "about 57 bytes a profile"},
  };
  return indexes;
}

const OptionalIndex* find_optional_index(std::string_view name) {
  const auto& all = optional_indexes();
  const auto found = std::find_if(
      all.begin(), all.end(), [name](const OptionalIndex& index) { return name == index.name; });
  return found == all.end() ? nullptr : &*found;
}

IndexState read_index_state(postgres::Session& session, const OptionalIndex& index) {
  // A role without rights on the table can see that the database builds an index, but not which
  // one.
  const postgres::Rows rows = session.run(fmt::format(
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

namespace {

int index_list(const Invocation& invocation) {
  postgres::Session session = open_state_to_read(invocation, "skua index");
  command_line::Table table({{"name"}, {"size"}, {"use"}, {"cost"}});
  for (const OptionalIndex& index : optional_indexes()) {
    table.add({index.name, size_text(read_index_state(session, index)), index.use, index.cost});
  }
  fmt::print("{}", table.text());
  return kSuccess;
}

/// Builds an index while the indexer writes, and rebuilds it after an interrupted build. An
/// existing index is left unchanged.
int index_add(const Invocation& invocation) {
  const OptionalIndex& index = *invocation[kIndex];
  postgres::Session session = open_database(invocation, "skua index");
  // A concurrent build waits for running transactions, so the time of lock waits is not limited.
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
    session.run(fmt::format("CREATE INDEX CONCURRENTLY {} ON bsky.{} USING {} ({})", index.index,
                            index.table, index.method, index.columns));
  }
  // The planner uses the statistics of the expression for other plans too.
  if (index.statistics != nullptr) {
    session.run(fmt::format("CREATE STATISTICS IF NOT EXISTS bsky.{} ON ({}) FROM bsky.{}",
                            index.index, index.statistics, index.table));
  }
  session.run(fmt::format("ANALYZE bsky.{}", index.table));
  fmt::print("{}: {}\n", index.name, read_index_state(session, index).size);
  return kSuccess;
}

int index_remove(const Invocation& invocation) {
  const OptionalIndex& index = *invocation[kIndex];
  postgres::Session session = open_database(invocation, "skua index");
  session.limit_lock_waits(std::chrono::milliseconds(0));
  const bool existed = read_index_state(session, index).progress != IndexState::Progress::Missing;
  drop(session, index);
  fmt::print("{}: {}\n", index.name, existed ? "removed" : "did not exist");
  return kSuccess;
}

}  // namespace

CommandSpecs index_commands() {
  const OptionUse name = required(kIndex);
  return {{"index", "Add and remove optional indexes"},
          {"index list",
           "List the optional indexes, their sizes, uses and costs",
           {kDatabase},
           index_list},
          {"index add",
           "Build an optional index while the indexer writes",
           {kDatabase, name},
           index_add},
          {"index remove", "Remove an optional index", {kDatabase, name}, index_remove}};
}

}  // namespace skua::cli
