#include "change_feed/feed_server.hpp"

#include <memory>
#include <utility>

#include "change_feed/change_stream.hpp"
#include "change_feed/jetstream.hpp"

namespace skua::change_feed {
namespace {

http_server::Server::Routes feed_routes(ChangeReader& reader) {
  using ExchangePointer = std::shared_ptr<http_server::Exchange>;
  using http_server::Method;
  http_server::Server::Routes routes;
  const auto changes = [&reader](const ExchangePointer& exchange) {
    serve_changes(reader, exchange);
  };
  const auto jetstream = [&reader](const ExchangePointer& exchange) {
    serve_jetstream(reader, exchange);
  };
  routes["/changes"] = {Method::Get, changes};
  routes["/subscribe"] = {Method::Get, jetstream};
  return routes;
}

}  // namespace

FeedServer::FeedServer(Options options)
    : reader_(std::move(options.reader)),
      server_(std::move(options.server), feed_routes(reader_)) {}

void FeedServer::start() {
  reader_.start();
  server_.start();
}

void FeedServer::stop() {
  server_.stop();
  reader_.stop();
}

}  // namespace skua::change_feed
