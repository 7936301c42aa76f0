#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command_list.hpp"
#include "query.hpp"
#include "query_arguments.hpp"
#include "query_statement.hpp"
#include "setting_option.hpp"
#include "shared_arguments.hpp"

namespace skua::cli {
namespace {

std::string need_text(const QueryNeed& need) {
  switch (need.kind) {
    case QueryNeed::Kind::Projection:
      return fmt::format("It needs the projection {} (`skua consumers add {}`). Without it, {}.",
                         need.name, need.name, need.without);
    case QueryNeed::Kind::Index:
      return fmt::format("It needs the index {} (`skua index add {}`). Without it, {}.", need.name,
                         need.name, need.without);
    case QueryNeed::Kind::Labels:
      break;
  }
  return fmt::format("It needs labels (`skua run --labeler URL`). Without them, {}.", need.without);
}

/// What the help of a query says below its arguments.
std::string footer_of(const NamedQuery& query) {
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

/// `skua query`, with a subcommand for each query of docs/queries.md.
class QueryCommand final : public Command {
 public:
  explicit QueryCommand(CLI::App& app);
  std::optional<int> run(const Settings& settings) const override;

 private:
  void add(const NamedQuery& query);

  CLI::App* query_;
  QueryFlags flags_;
};

QueryCommand::QueryCommand(CLI::App& app)
    : query_(
          app.add_subcommand("query", "Answer a question about accounts, posts or the network")) {
  // An argument may be the name of another query.
  query_->require_subcommand(0, 1);
  add_database_option(query_, flags_.database);
  add_setting(query_, kQueryTimeout, flags_.timeout);
  query_
      ->add_option("--limit", flags_.limit,
                   "The maximum number of rows (default: the one of the query)")
      ->type_name("all|NUMBER");
  auto* const wide = query_->add_flag("--wide", flags_.wide, "Print all columns and whole texts");
  auto* const csv = query_->add_flag("--csv", flags_.csv, "Print CSV with a header");
  auto* const sql = query_->add_flag(
      "--sql", flags_.sql, "Print the statement, which psql can run, instead of running it");
  add_json_flag(query_, flags_.json);
  csv->excludes("--json");
  for (auto* const flag : {csv, sql}) flag->excludes(wide);
  wide->excludes("--json");
  sql->excludes("--json")->excludes(csv);
  query_->footer(
      "Without a query, the command lists all of them with their arguments. docs/queries.md "
      "contains the queries as SQL. The role skua_reader may run this command.\n\n"
      "A table fits the terminal: long texts end in an ellipsis, and columns that do not fit are "
      "named on "
      "stderr. With --wide, and if stdout is not a terminal, nothing is left out. Times are UTC: "
      "2026-07-04 14:38:08 in a table, and 2026-07-04T14:38:08.085434+00:00 in CSV and JSON. "
      "Notes on stderr state what is missing from the answer, and the commands that add it. JSON "
      "is an object with `rows`, `more` (whether the limit left rows out) and `notes`.\n\n"
      "Examples:\n  skua query\n"
      "  skua query timeline bsky.app --database postgresql://localhost/skua\n"
      "  skua query likes https://bsky.app/profile/bsky.app/post/3l6oveex3ii2l --limit all --csv\n"
      "  skua query likes --help");
  for (const NamedQuery& query : named_queries()) add(query);
}

void QueryCommand::add(const NamedQuery& query) {
  CLI::App* const command = query_->add_subcommand(query.name, query.title)->group(query.group);
  for (std::size_t i = 0; i < query.arguments.size(); ++i) {
    const std::string& name = query.arguments[i];
    command
        ->add_option_function<std::string>(
            shown_name(name),
            [this, i](const std::string& value) {
              flags_.arguments.resize(std::max(flags_.arguments.size(), i + 1));
              flags_.arguments[i] = value;
            },
            argument_help(query_argument(name)))
        ->required();
  }
  command->footer(footer_of(query));
}

std::optional<int> QueryCommand::run(const Settings& settings) const {
  if (!*query_) return std::nullopt;
  const auto chosen = query_->get_subcommands();
  if (chosen.empty()) return list_queries();
  return run_query(settings, *find_query(chosen.front()->get_name()), flags_);
}

}  // namespace

std::unique_ptr<Command> make_query_command(CLI::App& app) {
  return std::make_unique<QueryCommand>(app);
}

}  // namespace skua::cli
