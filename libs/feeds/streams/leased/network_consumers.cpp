#include "streams/leased/network_consumers.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "streams/leased/node_moves.hpp"

namespace skua::streams {

NetworkConsumers::NetworkConsumers(const std::vector<postgres::Node>& nodes,
                                   postgres::Clocks clocks, const WebhookSender::Options& webhooks,
                                   FeedMetrics& metrics) {
  std::vector<std::string> names;
  std::ranges::transform(nodes, std::back_inserter(names), &postgres::Node::name);
  const auto moves = std::make_shared<NodeMoves>(names);
  std::vector<PullServer::Log> logs;
  for (const postgres::Node& node : nodes) {
    postgres::Runtime& runtime =
        *runtimes_.emplace_back(std::make_unique<postgres::Runtime>(node.url, clocks));
    const ServedNode served{.name = node.name, .moves = moves};
    logs.push_back({.runtime = runtime, .node = served});
    senders_.push_back(std::make_unique<WebhookSender>(runtime, webhooks, metrics, served));
  }
  pull_ = std::make_unique<PullServer>(logs, kLongestSearch, metrics);
}

void NetworkConsumers::start() {
  pull_->start();
  for (const auto& sender : senders_) sender->start();
}

void NetworkConsumers::stop() {
  pull_->stop();
  for (const auto& sender : senders_) sender->stop();
}

}  // namespace skua::streams
