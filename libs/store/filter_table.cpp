#include "store/filter_table.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace skua::store {
namespace {

const Statement kState{
    "filter_state",
    "SELECT version, widened, CASE WHEN clock_timestamp() < widened_at + interval '10 seconds' "
    "THEN least(version, widened - 1) ELSE version END, "
    "clock_timestamp() > widened_at + interval '5 seconds', resync_from IS NOT NULL "
    "FROM skua.filter_state"};

const Statement kLoadFilter{
    "filter_load",
    "SELECT s.version, v.kind, v.value FROM skua.filter_state AS s LEFT JOIN LATERAL ("
    "SELECT 'collection' AS kind, c AS value FROM unnest(s.collections) AS c UNION ALL "
    "SELECT 'did', d FROM unnest(s.dids) AS d UNION ALL "
    "SELECT 'excluded', e FROM unnest(s.excluded) AS e UNION ALL "
    "SELECT 'keep ' || k.value, k.key FROM jsonb_each_text(s.retention) AS k) AS v ON true"};

// Writers wait for each other; readers do not wait.
constexpr const char* kLockFilter = "LOCK TABLE skua.filter IN SHARE ROW EXCLUSIVE MODE";

const Statement kStored{"filter_stored", "SELECT 0::int8, kind, value FROM skua.filter"};

const Statement kExclude{"filter_exclude",
                         "INSERT INTO skua.excluded_accounts (did) SELECT DISTINCT u.did FROM "
                         "unnest($1::text[]) AS u(did) ON CONFLICT DO NOTHING"};
const Statement kInclude{"filter_include",
                         "DELETE FROM skua.excluded_accounts WHERE did = ANY($1::text[])"};
// A pass that has begun may have missed rows.
const Statement kSetRetention{
    "filter_set_retention",
    "INSERT INTO skua.retention AS r (collection, keep) VALUES ($1::text, $2::int8 * interval '1 "
    "second') ON CONFLICT (collection) DO UPDATE SET keep = EXCLUDED.keep, next_block = NULL, "
    "pass_at = NULL WHERE r.keep <> EXCLUDED.keep"};
const Statement kRemoveRetention{"filter_remove_retention",
                                 "DELETE FROM skua.retention WHERE collection = $1::text"};

const std::string kGiven = "unnest($1::text[], $2::text[]) AS u(kind, value)";
const Statement kInsertFilter{
    "filter_insert",
    "INSERT INTO skua.filter (kind, value) SELECT * FROM " + kGiven + " ON CONFLICT DO NOTHING"};
const Statement kRemoveFilter{"filter_remove", "DELETE FROM skua.filter AS f USING " + kGiven +
                                                   " WHERE f.kind = u.kind AND f.value = u.value"};
const Statement kKeep{"filter_keep", "DELETE FROM skua.filter AS f WHERE NOT EXISTS (SELECT FROM " +
                                         kGiven + " WHERE f.kind = u.kind AND f.value = u.value)"};

FilterContent content_of(const Rows& rows) {
  FilterContent content;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.is_null(i, 1)) continue;
    if (rows.text(i, 1) == "did") content.dids.emplace_back(rows.text(i, 2));
    if (rows.text(i, 1) == "collection") content.collections.emplace_back(rows.text(i, 2));
    if (rows.text(i, 1) == "list") content.lists.emplace_back(rows.text(i, 2));
  }
  std::sort(content.collections.begin(), content.collections.end());
  std::sort(content.dids.begin(), content.dids.end());
  std::sort(content.lists.begin(), content.lists.end());
  return content;
}

constexpr std::string_view kKeepKind = "keep ";

FilterLimits limits_of(const Rows& rows) {
  FilterLimits limits;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.is_null(i, 1)) continue;
    const std::string_view kind = rows.text(i, 1);
    if (kind == "excluded") {
      limits.excluded.emplace_back(rows.text(i, 2));
    } else if (kind.starts_with(kKeepKind)) {
      const std::string seconds(kind.substr(kKeepKind.size()));
      limits.retention.push_back(
          {std::string(rows.text(i, 2)), std::chrono::seconds(std::stoll(seconds))});
    }
  }
  std::sort(limits.excluded.begin(), limits.excluded.end());
  return limits;
}

std::size_t change_exclusions(Session& session, const Statement& statement,
                              const std::vector<std::string>& dids) {
  Array values(Array::Type::text);
  for (const std::string& did : dids) values.text(did);
  Params params;
  params.array(values);
  return session.execute(statement, params).affected();
}

Params params_of(const FilterContent& content) {
  Array kinds(Array::Type::text);
  Array values(Array::Type::text);
  const auto add = [&](const char* kind, const std::vector<std::string>& list) {
    for (const std::string& value : list) {
      kinds.text(kind);
      values.text(value);
    }
  };
  add("collection", content.collections);
  add("did", content.dids);
  add("list", content.lists);
  Params params;
  params.array(kinds).array(values);
  return params;
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

FilterState load_filter_state(Session& session) {
  const Rows rows = session.execute(kState, {});
  FilterState state;
  // Every migrated database has this row.
  state.version = rows.int8(0, 0);
  state.widened = rows.int8(0, 1);
  state.settled = rows.int8(0, 2);
  state.is_late = rows.boolean(0, 3);
  state.is_marking = rows.boolean(0, 4);
  return state;
}

std::shared_ptr<const Filter> load_filter(Session& session) {
  const Rows rows = session.execute(kLoadFilter, {});
  return std::make_shared<const Filter>(rows.int8(0, 0), content_of(rows), limits_of(rows));
}

FilterContent load_filter_entries(Session& session) {
  return content_of(session.execute(kStored, {}));
}

void refresh_filter_lists(Session& session) {
  session.run("SELECT skua.refresh_filter_lists()");
}

FilterChange change_filter(Session& session, FilterEdit edit, const FilterContent& content) {
  Transaction transaction(session);
  session.run(kLockFilter);
  FilterChange change;
  change.before = content_of(session.execute(kStored, {}));
  const Params given = params_of(content);
  if (edit == FilterEdit::Set) session.execute(kKeep, given);
  session.execute(edit == FilterEdit::Remove ? kRemoveFilter : kInsertFilter, given);
  change.after = content_of(session.execute(kStored, {}));
  transaction.commit();
  return change;
}

std::size_t exclude_accounts(Session& session, const std::vector<std::string>& dids) {
  return change_exclusions(session, kExclude, dids);
}

std::size_t include_accounts(Session& session, const std::vector<std::string>& dids) {
  return change_exclusions(session, kInclude, dids);
}

bool set_retention(Session& session, std::string_view collection,
                   std::optional<std::chrono::seconds> keep) {
  Params params;
  params.text(collection);
  if (!keep) return session.execute(kRemoveRetention, params).affected() > 0;
  params.int8(keep->count());
  return session.execute(kSetRetention, params).affected() > 0;
}

bool mark_for_filter(Session& session) {
  return session.run("SELECT skua.resync_for_filter()").boolean(0, 0);
}

std::int64_t waiting_for_filter(Session& session) {
  return session
      .run(
          "SELECT count(*) FROM skua.repositories WHERE state = 'desynchronized' "
          "AND reason IS NOT NULL")
      .int8(0, 0);
}

void widen_filter_again(Session& session) {
  session.run("SELECT skua.widen_filter()");
}

}  // namespace skua::store
