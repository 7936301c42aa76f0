#include "admin/admin_api.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/sql_error.hpp"

namespace skua::admin {

namespace {

using http_server::error_response;
using http_server::Exchange;
using http_server::Method;
using http_server::Response;
using std::chrono::milliseconds;

constexpr milliseconds kUntilNotified{60'000};
/// The maximum length of a result in the log, in characters.
constexpr std::size_t kLoggedResult = 300;
/// The SQLSTATE of insufficient_privilege.
constexpr const char* kNoPrivilege = "42501";

/// Limits the time of a statement, so that a lock of another session does not stop the API for
/// longer.
void limit_admin_statements(postgres::Session& session) {
  session.run("SET statement_timeout = '20s'");
}

Response database_unavailable() {
  return error_response(503, "DatabaseUnavailable",
                        "the database does not answer: try again later");
}

/// Returns the paths of the API to a client that has sent the token.
Response check_response() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Action& action : actions()) {
    const auto members = members_of(action.parameter);
    all.push_back({{"path", action.path},
                   {"method", name_of(Method::Post)},
                   {"body", std::vector(members.begin(), members.end())},
                   {"command", action.command}});
  }
  return {.body = nlohmann::ordered_json{{"actions", std::move(all)}}.dump() + "\n"};
}

}  // namespace

const char* name_of_request_end(std::size_t index) {
  switch (static_cast<RequestEnd>(index)) {
    case RequestEnd::Executed:
      return "executed";
    case RequestEnd::Rejected:
      return "rejected";
    case RequestEnd::Failed:
      return "failed";
    case RequestEnd::Unauthorized:
      return "unauthorized";
  }
  return "";
}

RequestEnd end_of_request(unsigned status) {
  // The status 429 means too many wrong tokens.
  if (status == 401 || status == 429) return RequestEnd::Unauthorized;
  if (status >= 500) return RequestEnd::Failed;
  return status >= 400 ? RequestEnd::Rejected : RequestEnd::Executed;
}

AdminApi::AdminApi(postgres::Runtime& runtime, Options options)
    : clock_(options.guard.clock),
      guard_(std::move(options.guard)),
      thread_(runtime,
              {.session_name = postgres::process_name("skua admin"),
               .prepare = limit_admin_statements,
               .component = "admin",
               .failure = "actions of the admin API cannot be executed"},
              [this](postgres::LazySession& session, const std::stop_token& /*stop*/) {
                return round(session);
              }) {}

void AdminApi::add_routes(http_server::Server::Routes& routes) {
  const auto guard = [this](const http_server::Request& request) {
    auto refusal = guard_.refusal(request);
    if (refusal) count(*refusal);
    return refusal;
  };
  for (const Action& action : actions()) {
    routes[action.path] = {
        Method::Post,
        [this, &action](const std::shared_ptr<Exchange>& exchange) { accept(action, exchange); },
        guard};
  }
  routes["/admin/check"] = {Method::Get,
                            [this](const std::shared_ptr<Exchange>& exchange) {
                              Response response = check_response();
                              count(response);
                              exchange->answer(std::move(response));
                            },
                            guard};
  // The guard also answers unknown paths, so that a client without the token does not learn which
  // paths exist.
  for (const char* others : {"/admin", "/admin/*"}) routes[others] = {Method::Get, nullptr, guard};
}

void AdminApi::start() {
  if (is_enabled()) thread_.start();
}

void AdminApi::count(const Response& response) {
  metrics_.requests.at(static_cast<std::size_t>(end_of_request(response.status))) += 1;
}

void AdminApi::accept(const Action& action, const std::shared_ptr<Exchange>& exchange) {
  const auto refuse = [&](Response response) {
    count(response);
    exchange->answer(std::move(response));
  };
  Arguments arguments;
  try {
    arguments = parse_arguments(action.parameter, exchange->request().body);
  } catch (const Refusal& refusal) {
    return refuse(refusal.response());
  }
  const bool is_queued = waiting_.with([&](std::deque<Waiting>& waiting) {
    if (waiting.size() >= kQueue) return false;
    waiting.push_back({&action, std::move(arguments), exchange, clock_.now()});
    return true;
  });
  if (!is_queued) {
    return refuse(error_response(503, "QueueFull", "too many actions wait: try again later"));
  }
  thread_.notify();
}

milliseconds AdminApi::round(postgres::LazySession& session) {
  auto next = waiting_.with([](std::deque<Waiting>& waiting) {
    std::optional<Waiting> first;
    if (!waiting.empty()) {
      first = std::move(waiting.front());
      waiting.pop_front();
    }
    return first;
  });
  if (!next) return kUntilNotified;
  const auto answer = [this](const Waiting& waiting, Response response) {
    count(response);
    logger("admin")->action("{} {} from {}: {} {}", waiting.action->path,
                            text_of(waiting.action->parameter, waiting.arguments),
                            waiting.exchange->request().address, response.status,
                            printable(trimmed(response.body), kLoggedResult));
    waiting.exchange->answer(std::move(response));
  };
  try {
    answer(*next, respond(session, *next));
  } catch (const postgres::ServerError&) {
    // The server's answer may be lost after a commit, so the client may repeat the action. All
    // actions permit this.
    auto rest = waiting_.with([](auto& waiting) { return std::exchange(waiting, {}); });
    answer(*next, database_unavailable());
    for (const Waiting& waiting : rest) answer(waiting, database_unavailable());
    throw;
  }
  return milliseconds(0);
}

Response AdminApi::respond(postgres::LazySession& session, const Waiting& waiting) const {
  if (clock_.now() - waiting.since > kLongestWait) {
    return error_response(503, "Unavailable", "the action waited too long and was not executed");
  }
  try {
    return waiting.action->run(session.get(), waiting.arguments);
  } catch (const Refusal& refusal) {
    return refusal.response();
  } catch (const postgres::ServerError&) {
    throw;
  } catch (const postgres::SqlError& error) {
    session.reset();
    if (error.sqlstate() == kNoPrivilege) {
      return error_response(403, "NoPrivilege",
                            "the role of the database may not do this: use the owner's");
    }
    return error_response(500, "DatabaseError", error.what());
  } catch (const std::exception& error) {
    session.reset();
    return error_response(500, "InternalError", error.what());
  }
}

}  // namespace skua::admin
