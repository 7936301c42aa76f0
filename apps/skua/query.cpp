#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "command_line/display_text.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "query_list.hpp"
#include "query_note.hpp"
#include "query_run.hpp"
#include "result_text.hpp"
#include "settings.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

/// The limit is bounded, because a function of the database computes with twice the limit in an
/// int4.
constexpr std::int64_t kMostLimit = 1'000'000'000;

/// If there is no number, all rows are shown.
struct RowLimit {
  std::optional<std::int64_t> rows;
};

const Option<std::optional<RowLimit>> kQueryLimit({.name = "--limit",
                                                   .type = "all|NUMBER",
                                                   .meaning = "The maximum number of rows",
                                                   .default_text = "the one of the query"},
                                                  [](const SettingValue& given) -> RowLimit {
                                                    if (given.value == "all") return {};
                                                    try {
                                                      return {whole_number(given, 1, kMostLimit)};
                                                    } catch (const UsageError& error) {
                                                      throw UsageError(fmt::format(
                                                          "{}, and not `all`", error.what()));
                                                    }
                                                  });
const Option<std::optional<std::string>> kViewer(
    {.name = "--viewer",
     .type = "ACCOUNT",
     .meaning = "Leave out what this account does not see, by blocks and labels"},
    [](const SettingValue& given) { return given.value; });
const Option<std::optional<std::string>> kBefore(
    {.name = "--before",
     .type = "TIME|KEY",
     .meaning = "Print the next rows: the `sort_at` of the last row, as --json prints it, or its "
                "`page_key`"},
    [](const SettingValue& given) { return given.value; });
const Option<std::optional<std::string>> kAfterPlace(
    {.name = "--after",
     .type = "PLACE",
     .meaning =
         "Print the posts from top to bottom after this `place`, the one of the last row; 0: "
         "from the first"},
    [](const SettingValue& given) { return given.value; });
const Option<std::optional<std::string>> kLast(
    {.name = "--last",
     .type = "URI",
     .meaning = "With --before and --after: the `uri` of the last row, so that rows with an equal "
                "time follow"},
    [](const SettingValue& given) { return given.value; });
const Option<std::optional<std::string>> kLastReason(
    {.name = "--last-reason",
     .type = "REASON",
     .meaning = "With --last: the `reason` of the last row, because a record can notify for two"},
    [](const SettingValue& given) { return given.value; });
const Option<bool> kWide({.name = "--wide", .meaning = "Print all columns and whole texts"});
const Option<bool> kCsv({.name = "--csv", .meaning = "Print CSV with a header"});
const Option<bool> kSql(
    {.name = "--sql", .meaning = "Print the statement, which psql can run, instead of running it"});

/// Returns the option for an argument of queries. The option lives until the end of the process.
const Option<std::string>& argument_option(const std::string& name) {
  static std::map<std::string, Option<std::string>> all;
  return all
      .try_emplace(name, OptionText{.name = shown_name(name),
                                    .meaning = argument_help(query_argument(name))})
      .first->second;
}

/// Returns a statement for psql as the chosen database needs it. Without one, it is for a database
/// of records.
std::string statement_for_psql(const Invocation& invocation, const std::string& sql) {
  if (!invocation.has(kDatabase)) return sql;
  const std::string url = require_database(invocation);
  try {
    postgres::Session session(url, postgres::process_name("skua query"));
    return postgres::for_database(session, sql);
  } catch (const postgres::SqlError& error) {
    print_note({fmt::format("the database cannot be asked whether it is a query database, which "
                            "needs other conditions: {}",
                            error.what()),
                {}});
    return sql;
  }
}

std::vector<std::string> texts_of(const Invocation& invocation, const NamedQuery& query) {
  std::vector<std::string> texts;
  for (const std::string& name : query.arguments) {
    texts.push_back(invocation[argument_option(name)]);
  }
  return texts;
}

/// Returns whether each column of these rows has the type timestamptz. The server plans the query
/// again, but does not run it.
std::vector<bool> time_columns(postgres::Session& session, const Execution& execution,
                               const postgres::Rows& rows) {
  std::vector<std::string> types;
  for (std::size_t i = 0; i < rows.columns(); ++i) {
    types.push_back(
        fmt::format("pg_typeof(q.\"{}\") = 'timestamptz'::regtype", rows.column_name(i)));
  }
  const postgres::Rows found = session.execute(
      {"query_types_" + execution.query.name,
       fmt::format("SELECT {} FROM (SELECT) AS one LEFT JOIN (SELECT * FROM (\n{}\n) AS s LIMIT 0) "
                   "AS q ON true",
                   fmt::join(types, ", "), execution.sql)},
      execution.params);
  std::vector<bool> is_time;
  for (std::size_t i = 0; i < rows.columns(); ++i) is_time.push_back(found.boolean(0, i));
  return is_time;
}

/// Returns the command that prints the next rows, with the optional arguments `next`.
std::string command_of_next_page(const Invocation& invocation, const NamedQuery& query,
                                 const QueryOptions& next) {
  std::string words = "query " + query.name;
  for (const std::string& text : texts_of(invocation, query)) words += " " + shell_word(text);
  if (const auto limit = invocation[kQueryLimit]; limit && limit->rows) {
    words += fmt::format(" --limit {}", *limit->rows);
  }
  if (takes(query, "viewer") && invocation[kViewer]) {
    words += " --viewer " + shell_word(*invocation[kViewer]);
  }
  for (const auto& [name, value] : next) {
    words += fmt::format(" {} {}", flag_of(name), shell_word(value));
  }
  return invocation.command_to_copy(words);
}

QueryNote more_rows(std::int64_t limit, const Invocation& invocation, const NamedQuery& query,
                    const QueryOptions& next) {
  QueryNote note{fmt::format("there are more rows than these {}: --limit NUMBER or --limit all "
                             "prints them",
                             with_commas(limit)),
                 {}};
  if (next.empty()) return note;
  note.text += ", and this command prints the next ones";
  note.commands.push_back(command_of_next_page(invocation, query, next));
  return note;
}

void print_table(const QueryResult& result, bool is_wide) {
  const auto width = is_wide ? std::nullopt : command_line::terminal_width();
  const ResultTable table = result_table(result, width);
  fmt::print("{}", table.text);
  if (table.hidden.empty()) return;
  print_note({fmt::format("{} columns are too few for {}: --wide prints all", *width,
                          fmt::join(table.hidden, ", ")),
              {}});
}

/// Runs a query and prints its rows, `notes`, and the notes about the rows.
void print_answer(postgres::Session& session, const Execution& execution,
                  std::optional<std::int64_t> limit, const QueryOptions& options,
                  const Invocation& invocation, std::vector<QueryNote>& notes) {
  // The session uses all plans of reports, while a session of the indexer only uses indexes.
  session.run("RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin");
  const postgres::Transaction transaction(session);
  session.run("SET TRANSACTION READ ONLY");
  const postgres::Rows rows = rows_of(session, execution, invocation[kJson]);
  append(notes, missing_records(session, execution.query, invocation));
  const bool has_more = limit && rows.size() > static_cast<std::size_t>(*limit);
  const std::size_t count = has_more ? static_cast<std::size_t>(*limit) : rows.size();
  QueryOptions next;
  if (has_more) {
    next = options_after(execution.query, options, rows, count - 1, invocation[kJson]);
    notes.push_back(more_rows(*limit, invocation, execution.query, next));
  }
  if (invocation[kJson]) {
    fmt::print("{}", json_text(rows, count, has_more, notes, next));
    return;
  }
  const QueryResult result{rows, count, time_columns(session, execution, rows)};
  if (invocation[kCsv]) {
    fmt::print("{}", result_csv(result));
  } else {
    print_table(result, invocation[kWide]);
  }
  std::fflush(stdout);
  print_notes(notes);
}

QueryOptions options_of(const Invocation& invocation, const NamedQuery& query) {
  QueryOptions given;
  if (takes(query, "viewer") && invocation[kViewer]) given["viewer"] = *invocation[kViewer];
  if (takes(query, "before") && invocation[kBefore]) given["before"] = *invocation[kBefore];
  if (takes(query, "after") && invocation[kAfterPlace]) given["after"] = *invocation[kAfterPlace];
  if (takes(query, "last") && invocation[kLast]) given["last"] = *invocation[kLast];
  if (takes(query, "last_reason") && invocation[kLastReason]) {
    given["last_reason"] = *invocation[kLastReason];
  }
  return read_options(query, given, true);
}

int list_queries(const Invocation& /*invocation*/) {
  std::string_view group;
  for (const NamedQuery& query : named_queries()) {
    if (query.group != group) {
      fmt::print("{}{}\n", group.empty() ? "" : "\n", query.group);
      group = query.group;
    }
    fmt::print("  {:<30}  {}\n", usage_of(query), query.title);
  }
  return kSuccess;
}

int run_query(const Invocation& invocation, const NamedQuery& query) {
  const auto values = read_arguments(query, texts_of(invocation, query));
  const auto given = invocation[kQueryLimit];
  const auto limit = given ? given->rows : query.limit;
  const QueryOptions options = options_of(invocation, query);
  if (invocation[kSql]) {
    fmt::print(
        "{}", statement_for_psql(invocation, statement_with_values(query, values, limit, options)));
    return kSuccess;
  }
  const auto timeout = invocation[kQueryTimeout];
  postgres::Session session = open_database_to_read(invocation, "skua query");
  session.run(fmt::format("SET statement_timeout = '{}s'", timeout.count()));
  const bool is_query_database = postgres::is_query_database(session);
  auto notes = missing_work(session, is_query_database, invocation);
  append(notes, missing_needs(session, is_query_database, query, values, invocation));
  try {
    if (is_query_database) postgres::refresh_collections(session);
    append(notes, missing_subjects(session, query, values, invocation));
    print_answer(session, execution_of(query, values, limit, options, is_query_database), limit,
                 options, invocation, notes);
  } catch (const postgres::SqlError&) {
    // The notes are printed, because a missing projection or index may be the reason why the query
    // takes too long.
    print_notes(notes);
    throw;
  }
  return kSuccess;
}

std::string need_text(const QueryNeed& need) {
  switch (need.kind) {
    case QueryNeed::Kind::Projection:
      return fmt::format("It needs the projection {} (`skua consumers add {}`). Without it, {}.",
                         need.name, need.name, need.without);
    case QueryNeed::Kind::Index:
      return fmt::format("It needs the index {} (`skua index add {}`). Without it, {}.", need.name,
                         need.name, need.without);
    case QueryNeed::Kind::FastIndex:
      return fmt::format(
          "The index {} (`skua index add {}`) is for subjects with very many "
          "records. Without it, {}.",
          need.name, need.name, need.without);
    case QueryNeed::Kind::Labels:
      break;
  }
  return fmt::format("It needs labels (`skua run --labeler URL`). Without them, {}.", need.without);
}

/// Returns the part of a query's help that stands below its arguments.
std::string help_of_query(const NamedQuery& query) {
  std::string text;
  if (!query.description.empty()) text += query.description + "\n\n";
  for (const QueryNeed& need : query.needs) text += need_text(need) + "\n\n";
  text += fmt::format("The columns are {}.", fmt::join(columns_of(query.statement), ", "));
  if (query.limit) text += fmt::format(" At most {} rows, unless --limit is given.", *query.limit);
  text += " `skua query --help` lists the options.\n\nExample:\n  skua query " + query.name;
  for (const std::string& argument : query.arguments) {
    text += fmt::format(" {}", query_argument(argument).example);
  }
  return text;
}

}  // namespace

CommandSpecs query_commands() {
  CommandSpecs commands = {{"query",
                            "Answer a question about accounts, posts or the network",
                            {kDatabase, kQueryTimeout, kQueryLimit, kWide, kCsv, kSql, kJson},
                            list_queries,
                            {&kWide, &kCsv, &kSql, &kJson}}};
  for (const NamedQuery& query : named_queries()) {
    CommandSpec& command = commands.emplace_back();
    command.name = "query " + query.name;
    command.summary = query.title;
    command.run = [&query](const Invocation& invocation) { return run_query(invocation, query); };
    command.group = query.group;
    command.help = help_of_query(query);
    for (const std::string& name : query.arguments) {
      command.options.push_back(required(argument_option(name)));
    }
    if (takes(query, "viewer")) command.options.emplace_back(kViewer);
    if (takes(query, "before")) command.options.emplace_back(kBefore);
    if (takes(query, "after")) command.options.emplace_back(kAfterPlace);
    if (takes(query, "last")) command.options.emplace_back(kLast);
    if (takes(query, "last_reason")) command.options.emplace_back(kLastReason);
  }
  return commands;
}

}  // namespace skua::cli
