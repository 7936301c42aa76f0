#include "exports/source.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "exports/source.sql.hpp"

namespace skua::exports {
namespace {

constexpr std::string_view kAccountKey = "actor_id";
constexpr std::string_view kAccounts = "bsky.actors";
/// The view of the accounts has their number in this column.
constexpr std::string_view kAccountsView = "actors_view";

struct NamedType {
  std::int64_t oid;
  std::string name;
};

bool is_integer(std::string_view type) {
  return type == "bigint" || type == "integer" || type == "smallint";
}

const Column* find_column(const Source& source, std::string_view name) {
  const auto found = std::find_if(source.columns.begin(), source.columns.end(),
                                  [name](const Column& column) { return column.name == name; });
  return found == source.columns.end() ? nullptr : &*found;
}

std::vector<Column> read_columns(postgres::Session& session, const std::string& from,
                                 const std::string& name) {
  const postgres::Rows rows = session.execute(
      {name, fmt::format("SELECT * FROM {} AS q LIMIT 0", from)}, postgres::Params());
  postgres::Array oids(postgres::Array::Type::int8);
  for (std::size_t i = 0; i < rows.columns(); ++i) {
    oids.int8(static_cast<std::int64_t>(rows.column_type(i)));
  }
  std::map<std::int64_t, std::string> names;
  for (NamedType& type : session.query<NamedType>(sql::exports_columns, oids)) {
    names[type.oid] = std::move(type.name);
  }
  std::vector<Column> columns;
  for (std::size_t i = 0; i < rows.columns(); ++i) {
    columns.push_back({std::string(rows.column_name(i)), names.at(rows.column_type(i))});
  }
  return columns;
}

}  // namespace

std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::vector<Relation> read_relations(postgres::Session& session) {
  return session.query<Relation>(sql::exports_relations);
}

Source relation_source(postgres::Session& session, const Relation& relation) {
  Source source{.from = fmt::format("bsky.{}", quoted_name(relation.name)), .columns = {}};
  source.columns = read_columns(session, source.from, "exports_of_" + relation.name);
  if (!relation.is_view) {
    source.key = session.query_first<std::string>(sql::exports_primary_key, relation.name);
    if (source.key) {
      source.bounds_from = source.from;
      source.bounds_key = *source.key;
    }
    return source;
  }
  const std::string key(relation.name == kAccountsView ? "id" : kAccountKey);
  const Column* const column = find_column(source, key);
  if (column != nullptr && is_integer(column->type)) {
    source.key = key;
    source.bounds_from = kAccounts;
    source.bounds_key = "id";
  }
  return source;
}

Source statement_source(postgres::Session& session, const std::string& sql,
                        const std::string& name) {
  Source source{.from = fmt::format("(\n{}\n)", sql), .columns = {}};
  source.columns = read_columns(session, source.from, name);
  return source;
}

bool set_key(Source& source, const std::string& column) {
  const Column* const found = find_column(source, column);
  if (found == nullptr || !is_integer(found->type)) return false;
  source.key = column;
  source.bounds_from = source.from;
  source.bounds_key = column;
  return true;
}

std::optional<KeyBounds> read_bounds(postgres::Session& session, const Source& source) {
  const std::string key = quoted_name(source.bounds_key);
  const postgres::Rows rows = session.run(
      fmt::format("SELECT min({0})::int8, max({0})::int8 FROM {1} AS q", key, source.bounds_from));
  if (rows.is_null(0, 0)) return std::nullopt;
  return KeyBounds{rows.int8(0, 0), rows.int8(0, 1), read_drawn(session, source)};
}

std::optional<std::int64_t> read_drawn(postgres::Session& session, const Source& source) {
  const bool is_account = source.bounds_from == kAccounts || source.bounds_key == kAccountKey ||
                          source.bounds_key.ends_with("_actor");
  if (!is_account) return std::nullopt;
  return session.query_one<std::optional<std::int64_t>>(sql::exports_drawn);
}

std::string read_token(postgres::Session& session) {
  return session.query_one<std::string>(sql::exports_token);
}

}  // namespace skua::exports
