#include "query_page.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "invocation.hpp"
#include "option.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "postgres/sql_error.hpp"
#include "query_list.hpp"
#include "query_note.hpp"
#include "query_run.hpp"

namespace skua::cli {

namespace {

using http_server::error_response;
using http_server::Request;
using http_server::Response;

constexpr std::int64_t kMostRows = 1'000;

/// Returns the arguments of the query. Throws UsageError for a wrong or missing parameter.
std::vector<std::string> texts_of_request(const Request& request, const NamedQuery& query) {
  for (const auto& [name, value] : request.target.query) {
    const bool is_known =
        name == "limit" || takes(query, name) ||
        std::find(query.arguments.begin(), query.arguments.end(), name) != query.arguments.end();
    if (!is_known) throw UsageError(fmt::format("unknown parameter: {}", name));
  }
  std::vector<std::string> texts;
  for (const std::string& name : query.arguments) {
    auto text = http_server::parameter(request, name);
    if (!text) {
      throw UsageError(fmt::format("the parameter {} is missing. {}", name,
                                   argument_help(query_argument(name))));
    }
    texts.push_back(std::move(*text));
  }
  return texts;
}

QueryOptions options_of_request(const Request& request, const NamedQuery& query) {
  QueryOptions given;
  for (const std::string& name : query.options) {
    if (auto text = http_server::parameter(request, name)) given[name] = std::move(*text);
  }
  return read_options(query, given, false);
}

std::int64_t limit_of_request(const Request& request, const NamedQuery& query) {
  const auto given = http_server::parameter(request, "limit");
  if (!given) return std::min(query.limit.value_or(kMostRows), kMostRows);
  std::int64_t limit = 0;
  const char* const end = given->data() + given->size();
  const auto [at, error] = std::from_chars(given->data(), end, limit);
  if (error != std::errc{} || at != end || limit < 1 || limit > kMostRows) {
    throw UsageError(fmt::format("limit is a number from 1 to {}", kMostRows));
  }
  return limit;
}

/// Returns the answer of a query. Throws UsageError for a wrong request, std::runtime_error if the
/// database does not know an account or record of the request, and postgres::SqlError.
Response run_request(postgres::Session& session, const Request& request, const NamedQuery& query) {
  const auto values = read_arguments(query, texts_of_request(request, query));
  const QueryOptions options = options_of_request(request, query);
  const std::int64_t limit = limit_of_request(request, query);
  // The commands in notes do not contain the address of the database.
  const Invocation invocation;
  const bool is_query_database = postgres::is_query_database(session);
  auto notes = missing_work(session, is_query_database, invocation);
  append(notes, missing_needs(session, is_query_database, query, values, invocation));
  append(notes, missing_subjects(session, query, values, invocation));
  const postgres::Transaction transaction(session);
  const postgres::Rows rows =
      rows_of(session, execution_of(query, values, limit, options, is_query_database), true);
  append(notes, missing_records(session, query, invocation));
  const bool has_more = rows.size() > static_cast<std::size_t>(limit);
  const std::size_t count = has_more ? static_cast<std::size_t>(limit) : rows.size();
  QueryOptions next;
  if (has_more) {
    next = options_after(query, options, rows, count - 1, true);
    notes.push_back({fmt::format("there are more rows than these {}: limit=NUMBER returns up to "
                                 "{}{}",
                                 limit, kMostRows,
                                 next.empty() ? "" : ", and the parameters `next` the next ones"),
                     {}});
  }
  return {.body = json_text(rows, count, has_more, notes, next)};
}

Response answer_query(postgres::Session& session, const Request& request, const NamedQuery& query) {
  try {
    return run_request(session, request, query);
  } catch (const UsageError& error) {
    return error_response(400, "InvalidRequest", error.what());
  } catch (const postgres::SqlError&) {
    throw;
  } catch (const std::runtime_error& error) {
    return error_response(404, "NotFound", error.what());
  }
}

Response list_of_queries() {
  auto list = nlohmann::ordered_json::array();
  for (const NamedQuery& query : named_queries()) {
    list.push_back({{"name", query.name},
                    {"title", query.title},
                    {"group", query.group},
                    {"parameters", query.arguments},
                    {"optional", query.options},
                    {"columns", columns_of(query.statement)}});
  }
  return {.body = nlohmann::ordered_json{{"queries", std::move(list)}}.dump(2) + "\n"};
}

}  // namespace

void add_query_routes(http_server::Server::Routes& routes, xrpc::ReadRequests& requests) {
  for (const NamedQuery& query : named_queries()) {
    requests.add_route(routes, "/query/" + query.name,
                       [&query](postgres::Session& session, const Request& request) {
                         return answer_query(session, request, query);
                       });
  }
  routes["/query"] = {http_server::Method::Get,
                      [](const std::shared_ptr<http_server::Exchange>& exchange) {
                        exchange->answer(list_of_queries());
                      }};
}

}  // namespace skua::cli
