#include "streams/leased/pull_server.hpp"

#include <algorithm>
#include <utility>

#include "http_server/exchange.hpp"

namespace skua::streams {

namespace {

using http_server::Exchange;
using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

void answer_without_changes(const PullWaiting& waiting, std::size_t logs) {
  // A node that lacks the consumer, because it was added later, has no changes for it.
  const bool is_known =
      waiting.refusal && (waiting.refusal->status != 401 || waiting.refused == logs);
  if (is_known) return waiting.refuse(*waiting.refusal);
  waiting.exchange->answer(http_server::Response{.body = R"({"changes":[]})"});
}

}  // namespace

PullServer::PullServer(const std::vector<Log>& logs, milliseconds longest_search,
                       FeedMetrics& metrics)
    : longest_search_(longest_search) {
  for (const auto& [runtime, node] : logs) {
    const std::size_t next = logs_.size() + 1;
    logs_.push_back(std::make_unique<PullLog>(runtime, node, metrics,
                                              [this, next](PullWaiting waiting, milliseconds idle) {
                                                ++waiting.searched;
                                                ask(next, std::move(waiting), idle);
                                              }));
  }
}

void PullServer::start() {
  for (const auto& log : logs_) log->start();
}

void PullServer::stop() {
  for (const auto& log : logs_) log->stop();
}

void PullServer::add_routes(http_server::Server::Routes& routes) {
  const std::pair<const char*, PullAction> paths[] = {{"/pull/fetch", PullAction::Fetch},
                                                      {"/pull/ack", PullAction::Ack},
                                                      {"/pull/nack", PullAction::Nack},
                                                      {"/pull/renew", PullAction::Renew}};
  for (const auto& [path, served] : paths) {
    routes[path] = {http_server::Method::Post,
                    [this, action = served](const std::shared_ptr<Exchange>& exchange) {
                      accept(action, exchange);
                    }};
  }
}

void PullServer::accept(PullAction action, const std::shared_ptr<Exchange>& exchange) {
  const auto refuse = [&](const std::string& message) {
    exchange->answer(http_server::error_response(400, "InvalidRequest", message));
  };
  auto request = parse_pull_request(action, exchange->request().body);
  if (!request) return refuse(request.error());
  const auto now = SteadyClock::now();
  const auto until = now + request->wait;
  PullWaiting waiting{*std::move(request), exchange, until, now + longest_search_};
  if (action == PullAction::Fetch) return ask(next_++, std::move(waiting), {});
  const auto log = std::ranges::find(logs_, waiting.request.node, &PullLog::node);
  if (log == logs_.end()) return refuse("batch is not the batch of an answer to fetch");
  (*log)->take(std::move(waiting));
}

void PullServer::ask(std::size_t log, PullWaiting waiting, milliseconds idle) {
  waiting.lanes_at_end = 0;
  for (std::size_t asked = 0; asked < logs_.size(); ++asked) {
    if (waiting.searched == logs_.size()) {
      const bool waits = waiting.refused < logs_.size() && SteadyClock::now() < waiting.until;
      if (!waits) return answer_without_changes(waiting, logs_.size());
      waiting.searched = 0;
      waiting.refused = 0;
      waiting.refusal.reset();
      waiting.next_search = SteadyClock::now() + idle;
    }
    PullLog& next = *logs_[(log + asked) % logs_.size()];
    if (logs_.size() == 1 || !next.is_down()) return next.take(std::move(waiting));
    waiting.note(next.unavailable());
    ++waiting.searched;
  }
  answer_without_changes(waiting, logs_.size());
}

}  // namespace skua::streams
