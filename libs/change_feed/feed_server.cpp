#include "change_feed/feed_server.hpp"

#include <memory>
#include <utility>

#include "change_feed/change_stream.hpp"
#include "change_feed/jetstream.hpp"

namespace skua::change_feed {
namespace {

http_server::Server::Routes feed_routes(ChangeReader& reader) {
  using ExchangePointer = std::shared_ptr<http_server::Exchange>;
  http_server::Server::Routes routes;
  routes["/changes"] = [&reader](const ExchangePointer& exchange) {
    serve_changes(reader, exchange);
  };
  routes["/subscribe"] = [&reader](const ExchangePointer& exchange) {
    serve_jetstream(reader, exchange);
  };
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
