#include "export_source.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "command_line/unknown_word.hpp"
#include "option.hpp"
#include "postgres/migrations.hpp"
#include "postgres/query_database.hpp"

namespace skua::cli {
namespace {

constexpr std::string_view kSchemaPrefix = "bsky.";

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  const auto similar = command_line::suggestion(word, known);
  return similar ? fmt::format("; did you mean '{}'?", *similar) : "";
}

[[noreturn]] void refuse_name(const std::string& word,
                              const std::vector<exports::Relation>& relations) {
  std::vector<std::string> names;
  names.reserve(relations.size());
  for (const exports::Relation& relation : relations) names.push_back(relation.name);
  if (!word.starts_with(kSchemaPrefix)) {
    for (const NamedQuery& query : named_queries()) names.push_back(query.name);
  }
  const std::string_view bare = word.starts_with(kSchemaPrefix)
                                    ? std::string_view(word).substr(kSchemaPrefix.size())
                                    : std::string_view(word);
  throw UsageError(fmt::format(
      "there is no table, view or question '{}'{}{} `skua export` lists the tables and views, "
      "`skua "
      "query` the questions",
      printable(word, 200), meant(bare, names), command_line::suggestion(bare, names) ? "" : ";"));
}

std::string without_end(std::string sql) {
  sql.erase(sql.find_last_not_of("; \t\r\n") + 1);
  return sql;
}

NamedSource question_source(postgres::Session& session, const NamedQuery& query,
                            const std::vector<std::string>& texts) {
  NamedSource named{.source = {}, .name = query.name, .query = &query};
  named.values = read_arguments(query, texts);
  named.source = exports::statement_source(
      session,
      postgres::for_database(
          session, without_end(statement_with_values(query, named.values, std::nullopt, {}))),
      "export_question");
  return named;
}

/// Adds the names after each `words` of a text, such as `CREATE TABLE bsky.`.
void add_names(std::string_view text, std::string_view words, std::set<std::string>& names) {
  constexpr std::string_view kOfName = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at)) {
    at += words.size();
    names.emplace(text.substr(at, std::min(text.find_first_not_of(kOfName, at), text.size()) - at));
  }
}

}  // namespace

NamedSource read_named_source(postgres::Session& session, const std::vector<std::string>& words) {
  const std::string& word = words.front();
  const bool is_relation_only = word.starts_with(kSchemaPrefix);
  const std::string name = is_relation_only ? word.substr(kSchemaPrefix.size()) : word;
  const std::vector<std::string> texts(words.begin() + 1, words.end());
  const auto relations = exports::read_relations(session);
  const auto relation =
      std::find_if(relations.begin(), relations.end(),
                   [&name](const exports::Relation& each) { return each.name == name; });
  const bool is_relation = relation != relations.end();
  const NamedQuery* const query = is_relation_only ? nullptr : find_query(name);
  if (!is_relation && query == nullptr) refuse_name(word, relations);
  if (is_relation && query != nullptr && texts.empty()) {
    throw UsageError(fmt::format(
        "{0} is the name of a table or view and of a question: `skua export bsky.{0}` exports the "
        "rows of the table or view, `skua export --sql \"$(skua query {1} --sql)\"` the answer",
        name, usage_of(*query)));
  }
  if (query != nullptr) {
    if (texts.size() != query->arguments.size()) {
      throw UsageError(
          fmt::format("the question {} has {}: skua export {}", name,
                      counted(static_cast<std::int64_t>(query->arguments.size()), "argument"),
                      usage_of(*query)));
    }
    return question_source(session, *query, texts);
  }
  if (!texts.empty()) {
    throw UsageError(fmt::format("'{}' is one word too many: bsky.{} has no arguments",
                                 printable(texts.front(), 200), name));
  }
  return {.source = exports::relation_source(session, *relation), .name = name};
}

NamedSource read_statement(postgres::Session& session, std::string sql) {
  NamedSource named{
      .source = exports::statement_source(session, without_end(std::move(sql)), "export_statement"),
      .name = "statement"};
  std::set<std::string> names;
  for (const exports::Column& column : named.source.columns) {
    if (names.insert(column.name).second) continue;
    throw UsageError(
        fmt::format("--sql: two columns have the name {}: give one another name with "
                    "AS",
                    printable(column.name, 200)));
  }
  return named;
}

std::vector<exports::Column> chosen_columns(const NamedSource& named,
                                            const std::vector<std::string>& names) {
  const auto& all = named.source.columns;
  if (names.empty()) return all;
  std::vector<exports::Column> columns;
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&name](const exports::Column& column) {
      return column.name == name;
    });
    if (found == all.end()) {
      std::vector<std::string> known;
      known.reserve(all.size());
      for (const exports::Column& column : all) known.push_back(column.name);
      throw UsageError(fmt::format("--columns: {} has no column '{}'{} Its columns are {}",
                                   named.name, printable(name, 200),
                                   command_line::suggestion(name, known) ? meant(name, known) : ".",
                                   fmt::join(known, ", ")));
    }
    if (std::find(columns.begin(), columns.end(), *found) != columns.end()) {
      throw UsageError(fmt::format("--columns: {} occurs twice", name));
    }
    columns.push_back(*found);
  }
  return columns;
}

std::vector<std::pair<std::string, std::string>> exportable_names() {
  std::set<std::string> names;
  for (const postgres::SchemaFile& file : postgres::schema().tables) {
    add_names(file.sql, "CREATE TABLE bsky.", names);
  }
  for (const postgres::SchemaFile& file : postgres::schema().definitions) {
    add_names(file.sql, "VIEW bsky.", names);
  }
  std::vector<std::pair<std::string, std::string>> known;
  for (const std::string& name : names) {
    // For a name that is also a question, only this form is the table.
    const bool is_question = find_query(name) != nullptr;
    known.emplace_back(is_question ? fmt::format("{}{}", kSchemaPrefix, name) : name,
                       name.ends_with("_view") ? "a view" : "a table or view");
  }
  for (const NamedQuery& query : named_queries()) known.emplace_back(query.name, query.title);
  return known;
}

}  // namespace skua::cli
