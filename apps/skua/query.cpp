#include "query.hpp"

#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/database.hpp"
#include "base/count_text.hpp"
#include "commands.hpp"
#include "database_choice.hpp"
#include "query_list.hpp"
#include "result_text.hpp"
#include "store/process_name.hpp"
#include "store/session.hpp"

namespace skua::cli {
namespace {

/// The name of the query and of its arguments, as on a command line.
std::string usage_of(const NamedQuery& query) {
  std::string text = query.name;
  for (const std::string& argument : query.arguments) {
    text += ' ';
    for (const char c : argument)
      text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return text;
}

void print_list() {
  std::string_view group;
  for (const NamedQuery& query : named_queries()) {
    if (query.group != group) {
      fmt::print("{}{}\n", group.empty() ? "" : "\n", query.group);
      group = query.group;
    }
    fmt::print("  {:<30}  {}\n", usage_of(query), query.title);
  }
}

const NamedQuery& chosen_query(const QueryFlags& flags) {
  const NamedQuery* query = find_query(flags.name);
  if (query == nullptr) {
    throw UsageError(
        fmt::format("there is no query '{}'; `skua query` lists the queries", flags.name));
  }
  if (flags.arguments.size() != query->arguments.size()) {
    throw UsageError(fmt::format(
        "the query needs {}: skua query {}",
        counted(static_cast<std::int64_t>(query->arguments.size()), "argument"), usage_of(*query)));
  }
  return *query;
}

/// JSON as the server writes it, with everything beyond ASCII escaped.
std::string json_text(const store::Rows& rows) {
  return nlohmann::ordered_json::parse(rows.text(0, 0)).dump(2, ' ', true) + "\n";
}

}  // namespace

int query(const Settings& settings, const QueryFlags& flags) {
  if (flags.name.empty()) {
    print_list();
    return kSuccess;
  }
  const NamedQuery& chosen = chosen_query(flags);
  const auto timeout = duration(settings.find_or_default(kQueryTimeout, flags.timeout),
                                std::chrono::seconds(1), std::chrono::hours(24));
  const std::string url = require_database(settings, flags.database);
  app::check_database(url);
  store::Session session(url, store::process_name("skua query"));
  // The plans of reports: a session of the indexer only uses indexes.
  session.run("RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin");
  store::Transaction transaction(session);
  session.run("SET TRANSACTION READ ONLY");
  session.run(fmt::format("SET LOCAL statement_timeout = '{}s'", timeout.count()));
  store::Params params;
  for (const std::string& argument : flags.arguments) params.text(argument);
  const std::string sql =
      flags.json ? fmt::format("SELECT coalesce(json_agg(row_to_json(q)), '[]') FROM ({}) AS q",
                               chosen.sql)
                 : chosen.sql;
  const store::Rows rows = session.execute({"query_" + chosen.name, sql}, params);
  transaction.commit();
  fmt::print("{}", flags.json  ? json_text(rows)
                   : flags.csv ? result_csv(rows)
                               : result_table(rows));
  return kSuccess;
}

}  // namespace skua::cli
