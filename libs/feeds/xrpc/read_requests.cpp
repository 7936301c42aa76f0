#include "xrpc/read_requests.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/time.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/sql_error.hpp"

namespace skua::xrpc {

namespace {

using http_server::error_response;
using http_server::Exchange;
using http_server::Response;

/// The session only reads. It uses all plans of reports, while a session of the indexer prefers
/// indexes. A statement is planned for its arguments: an account can have one record or a million.
void prepare_reader(postgres::Session& session, std::chrono::milliseconds statement_time) {
  session.run(
      fmt::format("SET default_transaction_read_only = on; SET statement_timeout = '{}ms'; "
                  "SET plan_cache_mode = force_custom_plan; RESET enable_seqscan; "
                  "RESET enable_hashjoin; RESET enable_mergejoin",
                  statement_time.count()));
  // From PostgreSQL 16 on, a member may lack the right to act as the role.
  const auto may_act = session.run(
      "SELECT coalesce((SELECT pg_has_role(r.oid, CASE WHEN "
      "current_setting('server_version_num')::int4 >= 160000 THEN 'SET' ELSE 'MEMBER' END) FROM "
      "pg_roles AS r WHERE r.rolname = 'skua_reader'), false)");
  if (may_act.boolean(0, 0)) session.run("SET ROLE skua_reader");
}

using std::chrono::milliseconds;

Response too_many_requests(std::chrono::microseconds wait) {
  constexpr std::chrono::seconds kLeast{1};
  Response response = error_response(429, "RateLimitExceeded", "too many requests wait");
  response.retry_after = std::max(kLeast, std::chrono::ceil<std::chrono::seconds>(wait));
  return response;
}

}  // namespace

const char* name_of_request_end(std::size_t index) {
  constexpr std::array<const char*, kRequestEnds> kNames = {"answered", "refused", "limited",
                                                            "failed"};
  return kNames.at(index);
}

ReadRequests::ReadRequests(postgres::Runtime& runtime, const Options& options, ReadMetrics& metrics)
    : longest_wait_(options.longest_wait),
      metrics_(metrics),
      queue_(Queue({.running_of_client = std::max<std::size_t>(options.threads, 2) - 1})) {
  for (std::size_t i = 0; i < options.threads; ++i) {
    threads_.push_back(std::make_unique<postgres::SessionThread>(
        runtime,
        postgres::SessionThread::Options{
            .session_name = postgres::process_name(options.session_name),
            .prepare = [time = options.statement_time](
                           postgres::Session& session) { prepare_reader(session, time); },
            .component = "http",
            .failure = "requests for records are not answered",
            .retries_sql_errors = true},
        [this](postgres::LazySession& session, const std::stop_token& stop) {
          return round(session, stop);
        }));
  }
}

void ReadRequests::add_route(http_server::Server::Routes& routes, const std::string& path,
                             Answer answer) {
  const Answer& kept = answers_.emplace_back(std::move(answer));
  routes[path] = {
      http_server::Method::Get,
      [this, &kept](const std::shared_ptr<Exchange>& exchange) { accept(kept, exchange); }};
}

void ReadRequests::start() {
  for (const auto& thread : threads_) thread->start();
}

void ReadRequests::stop() {
  for (const auto& thread : threads_) thread->request_stop();
  for (const auto& thread : threads_) thread->stop();
}

void ReadRequests::accept(const Answer& answer, const std::shared_ptr<Exchange>& exchange) {
  const std::string client = http_server::counted_address(exchange->request().address);
  const Timestamp now = monotonic_clock().now();
  const auto wait = queue_.with([&](Queue& queue) -> std::optional<std::chrono::microseconds> {
    if (!queue.push(client, {&answer, exchange}, now)) return queue.time_to_share(client, now);
    metrics_.waiting += 1;
    return std::nullopt;
  });
  if (wait) return exchange->answer(count(RequestEnd::Limited, too_many_requests(*wait)));
  for (const auto& thread : threads_) thread->notify();
}

std::optional<ReadRequests::Queue::Item> ReadRequests::take() {
  const Timestamp now = monotonic_clock().now();
  auto next = queue_.with([&](Queue& queue) { return queue.take(now); });
  if (next) {
    metrics_.waiting -= 1;
    metrics_.wait.add(now - next->since);
  }
  return next;
}

milliseconds ReadRequests::round(postgres::LazySession& session, const std::stop_token& stop) {
  constexpr milliseconds kPause{1'000};
  while (!stop.stop_requested()) {
    const auto next = take();
    if (!next) break;
    const Timestamp began = monotonic_clock().now();
    if (began - next->since > longest_wait_) {
      next->request.exchange->answer(count(RequestEnd::Limited, too_many_requests({})));
    } else {
      next->request.exchange->answer(answer_of(session, next->request));
    }
    const Timestamp now = monotonic_clock().now();
    const auto used = std::chrono::ceil<milliseconds>(now - began);
    // If this gives the client another turn, this thread takes it.
    queue_.with([&](Queue& queue) { queue.finished(next->client, used, now); });
  }
  return kPause;
}

Response ReadRequests::answer_of(postgres::LazySession& session, const Asked& asked) {
  const auto answer = [&] { return (*asked.answer)(session.get(), asked.exchange->request()); };
  // A session learns only from its next statement that its connection broke.
  const auto answer_after_loss = [&] {
    try {
      return answer();
    } catch (const postgres::SqlError& error) {
      if (!error.is_unreachable()) throw;
    }
    return answer();
  };
  try {
    Response response = answer_after_loss();
    const auto end = response.status == 200 ? RequestEnd::Answered : RequestEnd::Refused;
    return count(end, std::move(response));
  } catch (const postgres::SqlError& error) {
    if (error.sqlstate() == postgres::kQueryCanceled ||
        error.sqlstate() == postgres::kLockNotAvailable) {
      return count(RequestEnd::Limited,
                   error_response(503, "Timeout", "the database needs too long for this request"));
    }
    logger("http")->warn("a request is not answered: {}", postgres::error_text(error.what()));
    return count(RequestEnd::Failed,
                 error_response(503, "DatabaseUnavailable", "the database does not answer"));
  }
}

Response ReadRequests::count(RequestEnd end, Response response) {
  metrics_.requests.at(static_cast<std::size_t>(end)) += 1;
  return response;
}

}  // namespace skua::xrpc
