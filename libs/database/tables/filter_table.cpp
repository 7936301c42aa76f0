#include "tables/filter_table.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "tables/filter_table.sql.hpp"

namespace skua::tables {
namespace {

/// An entry of the filter, an exclusion, or a time for which records are kept.
struct Entry {
  std::string kind;
  std::string value;
};

/// A row of filter_load. A filter without entries has one row without kind and value.
struct LoadedEntry {
  std::int64_t version;
  std::optional<std::string> kind;
  std::optional<std::string> value;
};

FilterContent content_of(const std::vector<Entry>& entries) {
  FilterContent content;
  for (const Entry& entry : entries) {
    if (entry.kind == "did") content.dids.push_back(entry.value);
    if (entry.kind == "collection") content.collections.push_back(entry.value);
    if (entry.kind == "list") content.lists.push_back(entry.value);
  }
  std::ranges::sort(content.collections);
  std::ranges::sort(content.dids);
  std::ranges::sort(content.lists);
  return content;
}

constexpr std::string_view kKeepKind = "keep ";

FilterLimits limits_of(const std::vector<Entry>& entries) {
  FilterLimits limits;
  for (const auto& [kind, value] : entries) {
    if (kind == "excluded") {
      limits.excluded.push_back(value);
    } else if (kind.starts_with(kKeepKind)) {
      limits.retention.push_back(
          {value, std::chrono::seconds(std::stoll(kind.substr(kKeepKind.size())))});
    }
  }
  std::ranges::sort(limits.excluded);
  return limits;
}

std::vector<Entry> entries_of(const FilterContent& content) {
  std::vector<Entry> entries;
  for (const std::string& value : content.collections) entries.push_back({"collection", value});
  for (const std::string& value : content.dids) entries.push_back({"did", value});
  for (const std::string& value : content.lists) entries.push_back({"list", value});
  return entries;
}

}  // namespace

bool Filter::passes_did(std::string_view did) const {
  const auto& dids = content_.dids;
  return !excludes(did) &&
         (dids.empty() || std::binary_search(dids.begin(), dids.end(), did, std::less<>()));
}

bool Filter::excludes(std::string_view did) const {
  const auto& excluded = limits_.excluded;
  return std::binary_search(excluded.begin(), excluded.end(), did, std::less<>());
}

bool Filter::is_expired(std::string_view collection, std::optional<Timestamp> created_at,
                        Timestamp now) const {
  if (!created_at) return false;
  return std::any_of(limits_.retention.begin(), limits_.retention.end(), [&](const KeepTime& rule) {
    return rule.collection == collection && *created_at < now - rule.keep;
  });
}

FilterState load_filter_state(postgres::Session& session) {
  // Every migrated database has the row of skua.filter_state.
  return session.query_one<FilterState>(sql::filter_state);
}

std::shared_ptr<const Filter> load_filter(postgres::Session& session) {
  auto rows = session.query<LoadedEntry>(sql::filter_load);
  const std::int64_t version = rows.at(0).version;
  std::vector<Entry> entries;
  for (LoadedEntry& row : rows) {
    if (row.kind) entries.push_back({std::move(*row.kind), std::move(row.value).value_or("")});
  }
  return std::make_shared<const Filter>(version, content_of(entries), limits_of(entries));
}

FilterContent load_filter_entries(postgres::Session& session) {
  return content_of(session.query<Entry>(sql::filter_stored));
}

void refresh_filter_lists(postgres::Session& session) {
  session.execute(sql::filter_refresh_lists);
}

FilterChange change_filter(postgres::Session& session, FilterEdit edit,
                           const FilterContent& content) {
  postgres::Transaction transaction(session);
  session.execute(sql::filter_lock);
  FilterChange change;
  change.before = load_filter_entries(session);
  const std::vector<Entry> given = entries_of(content);
  const postgres::Array kinds = postgres::column(given, &Entry::kind);
  const postgres::Array values = postgres::column(given, &Entry::value);
  if (edit == FilterEdit::Set) session.execute(sql::filter_keep, kinds, values);
  session.execute(edit == FilterEdit::Remove ? sql::filter_remove : sql::filter_insert, kinds,
                  values);
  change.after = load_filter_entries(session);
  transaction.commit();
  return change;
}

std::size_t exclude_accounts(postgres::Session& session, const std::vector<std::string>& dids) {
  return session.execute(sql::filter_exclude, dids).affected();
}

std::size_t include_accounts(postgres::Session& session, const std::vector<std::string>& dids) {
  return session.execute(sql::filter_include, dids).affected();
}

bool set_retention(postgres::Session& session, std::string_view collection,
                   std::optional<std::chrono::seconds> keep) {
  const postgres::Rows changed = keep
                                     ? session.execute(sql::filter_set_retention, collection, *keep)
                                     : session.execute(sql::filter_remove_retention, collection);
  return changed.affected() > 0;
}

bool mark_for_filter(postgres::Session& session) {
  return session.query_one<bool>(sql::filter_mark);
}

std::int64_t waiting_for_filter(postgres::Session& session) {
  return session.query_one<std::int64_t>(sql::filter_waiting);
}

void widen_filter_again(postgres::Session& session) {
  session.execute(sql::filter_widen);
}

}  // namespace skua::tables
