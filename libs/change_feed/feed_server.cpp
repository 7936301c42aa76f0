#include "change_feed/feed_server.hpp"

#include <utility>

#include "change_feed/change_stream.hpp"
#include "change_feed/jetstream.hpp"

namespace skua::change_feed {

using ExchangePointer = std::shared_ptr<http_server::Exchange>;

FeedServer::FeedServer(Options options)
    : reader_(options.reader),
      pull_(options.serves_leased ? std::make_unique<PullServer>(PullServer::Options{
                                        .database_url = options.reader.database_url,
                                        .on_defect = options.reader.on_defect})
                                  : nullptr),
      webhooks_(options.serves_leased ? std::make_unique<WebhookSender>(options.webhooks)
                                      : nullptr),
      server_(std::move(options.server), routes()) {}

http_server::Server::Routes FeedServer::routes() {
  using http_server::Method;
  http_server::Server::Routes routes;
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

}  // namespace skua::change_feed
