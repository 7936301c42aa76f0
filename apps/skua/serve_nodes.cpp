#include "serve_nodes.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "addresses.hpp"
#include "base/metric.hpp"
#include "base/text.hpp"
#include "commands.hpp"
#include "database.hpp"
#include "http_server/server.hpp"
#include "pages/node_pages.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/query_database.hpp"
#include "postgres/session.hpp"
#include "serve_parts.hpp"
#include "settings.hpp"
#include "streams/change_stream.hpp"
#include "streams/leased/network_consumers.hpp"
#include "streams/node_feed.hpp"
#include "watch_backfill.hpp"

namespace skua::cli {
namespace {

using ExchangePointer = std::shared_ptr<http_server::Exchange>;
using std::chrono::steady_clock;

/// The time between two reads of the list of nodes.
constexpr std::chrono::seconds kNodesCheck{5};

std::vector<postgres::Node> nodes_of(const std::string& url) {
  postgres::Session session(url, postgres::process_name("skua serve"));
  return postgres::require_nodes(session);
}

/// To be read after the nodes: a move that comes between changes the nodes.
std::vector<postgres::GroupMove> moves_of(const std::string& url) {
  postgres::Session session(url, postgres::process_name("skua serve"));
  return postgres::read_moves(session);
}

/// Notices that nodes were added or removed.
class NodeList {
 public:
  explicit NodeList(std::string url) : url_(std::move(url)), nodes_(nodes_of(url_)) {}

  const std::vector<postgres::Node>& nodes() const { return nodes_; }

  bool has_changed(steady_clock::time_point now) {
    if (now < next_check_) return false;
    next_check_ = now + kNodesCheck;
    try {
      return nodes_of(url_) != nodes_;
    } catch (const postgres::NodeError&) {
      return true;  // all nodes were removed
    } catch (const postgres::SqlError&) {
      // The parts that read the query database report it.
      return false;
    }
  }

 private:
  const std::string url_;
  const std::vector<postgres::Node> nodes_;
  steady_clock::time_point next_check_ = steady_clock::now() + kNodesCheck;
};

void refuse_projections(const Invocation& invocation) {
  if (!invocation[kServeConsumers]) return;
  throw std::runtime_error(
      "each node keeps its own projections up to date: run `skua serve --consumers` with the "
      "database of the node, or leave out --consumers");
}

void add_feed_routes(http_server::Server::Routes& routes, streams::NodeFeed& feed) {
  using http_server::Method;
  routes["/changes"] = {Method::Get,
                        [&feed](const ExchangePointer& exchange) { feed.serve_changes(exchange); }};
  routes["/subscribe"] = {Method::Get, [&feed](const ExchangePointer& exchange) {
                            streams::refuse(
                                feed.own_metrics(), *exchange,
                                {400, "InvalidRequest",
                                 "a query database has no /subscribe, because times do not order "
                                 "the changes of several nodes: read /changes, or /subscribe of "
                                 "each node"});
                          }};
}

}  // namespace

int serve_nodes(const Invocation& invocation, postgres::Runtime& runtime, StopSignal& stop_signal) {
  refuse_projections(invocation);
  NodeList list(runtime.database_url);
  streams::NodeFeed feed(list.nodes(), moves_of(runtime.database_url), runtime.clocks, {});
  streams::NetworkConsumers consumers(
      list.nodes(), runtime.clocks,
      {.request_time = invocation[kWebhookTimeout], .ca_file = invocation[kCaFile]},
      feed.own_metrics());
  ReadParts reads(runtime, invocation);
  pages::NodePages pages(runtime, [&] {
    auto values = values_of(feed.metrics());
    std::ranges::move(reads.metrics(), std::back_inserter(values));
    return status::labelled(std::move(values));
  });
  http_server::Server::Routes routes;
  add_feed_routes(routes, feed);
  consumers.add_routes(routes);
  reads.add_routes(routes);
  pages.add_routes(routes);
  http_server::Server::Options options = serve_options(invocation);
  options.on_limit = [&feed](std::string_view error) {
    streams::count_error(feed.own_metrics(), error);
  };
  http_server::Server server(std::move(options), std::move(routes));
  warn_of_open_address(invocation);
  pages.start();
  reads.start();
  feed.start();
  consumers.start();
  server.start();
  const std::string address = ListenAddress{invocation[kListen].address, server.port()}.text();
  print_progress(fmt::format("serving http://{}/changes of {}; Ctrl-C stops", address,
                             counted(list.nodes().size(), "node")));
  bool has_changed = false;
  do {
    has_changed = list.has_changed(steady_clock::now());
  } while (!has_changed && !runtime.fatal_error() &&
           !stop_signal.wait_for(std::chrono::milliseconds(250)));
  stop_signal.limit_the_end();
  print_progress(fmt::format("stopping: closing {}", counted(server.connections(), "connection")));
  server.stop();
  feed.stop();
  consumers.stop();
  reads.stop();
  pages.stop();
  if (has_changed) {
    print_error("the list of nodes has changed: start `skua serve` again, which reads all of them");
    return kFailure;
  }
  if (const auto what = runtime.fatal_error()) {
    print_error(*what);
    return kFailure;
  }
  return kSuccess;
}

}  // namespace skua::cli
