#include "streams/feed_server.hpp"

#include <string_view>
#include <utility>

#include "streams/change_stream.hpp"

namespace skua::streams {

using ExchangePointer = std::shared_ptr<http_server::Exchange>;

namespace {

http_server::Server::Options counting(http_server::Server::Options options, FeedMetrics& metrics) {
  options.on_limit = [&metrics](std::string_view error) { count_error(metrics, error); };
  return options;
}

}  // namespace

FeedServer::FeedServer(postgres::Runtime& runtime, Options options, FeedMetrics& metrics)
    : reader_(runtime, options.reader, metrics),
      pull_(options.serves_leased
                ? std::make_unique<PullServer>(std::vector<PullServer::Log>{{.runtime = runtime}},
                                               options.longest_search, metrics)
                : nullptr),
      webhooks_(options.serves_leased
                    ? std::make_unique<WebhookSender>(runtime, options.webhooks, metrics)
                    : nullptr),
      server_(counting(std::move(options.server), metrics), routes(std::move(options.routes))) {}

http_server::Server::Routes FeedServer::routes(http_server::Server::Routes routes) {
  using http_server::Method;
  routes["/changes"] = {
      Method::Get, [this](const ExchangePointer& exchange) { serve_changes(reader_, exchange); }};
  routes["/subscribe"] = {
      Method::Get, [this](const ExchangePointer& exchange) { serve_jetstream(reader_, exchange); }};
  if (pull_) pull_->add_routes(routes);
  return routes;
}

void FeedServer::start() {
  reader_.start();
  if (pull_) pull_->start();
  if (webhooks_) webhooks_->start();
  server_.start();
}

void FeedServer::stop() {
  server_.stop();
  reader_.stop();
  if (pull_) pull_->stop();
  if (webhooks_) webhooks_->stop();
}

}  // namespace skua::streams
