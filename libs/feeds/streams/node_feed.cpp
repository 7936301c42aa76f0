#include "streams/node_feed.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/guarded.hpp"
#include "streams/node_positions.hpp"

namespace skua::streams {
namespace {

using http_server::Exchange;
using http_server::Message;
using http_server::MessageBatch;

/// A smaller share of a batch would cut it into too many parts.
constexpr std::size_t kSmallestShare = 1024;

/// The stream of one client, with a stream for each node.
class NodeStream final : public http_server::MessageSource {
 public:
  struct Part {
    std::string node;
    std::shared_ptr<ChangeStream> stream;
  };

  /// `has_moves`: a part may wait for another one (hold_of).
  NodeStream(std::vector<Part> parts, bool has_moves)
      : parts_(std::move(parts)), has_moves_(has_moves) {}

  void connect(std::function<void()> wake) override {
    for (const Part& part : parts_) part.stream->connect(wake);
  }

  MessageBatch next(std::size_t max_bytes) override {
    const std::size_t share = std::max(max_bytes / parts_.size(), kSmallestShare);
    MessageBatch all = next_of_parts(share);
    // A part that was waited for may have passed its position without a message.
    if (has_moves_ && all.messages.empty() && !all.end) all = next_of_parts(share);
    return all;
  }

  /// The last heartbeat has the positions of all nodes.
  std::optional<Message> heartbeat() override {
    std::optional<Message> message;
    for (const Part& part : parts_) message = part.stream->heartbeat();
    return message;
  }

 private:
  MessageBatch next_of_parts(std::size_t share) {
    MessageBatch all;
    for (const Part& part : parts_) {
      MessageBatch batch = part.stream->next(share);
      std::ranges::move(batch.messages, std::back_inserter(all.messages));
      if (!batch.end) continue;
      all.end = std::move(batch.end);
      all.end->message = fmt::format("the node {}: {}", part.node, all.end->message);
      break;
    }
    return all;
  }

  const std::vector<Part> parts_;
  const bool has_moves_;
};

/// The answers of the readers to a request.
struct Answers {
  std::vector<std::optional<std::variant<Opened, FeedError>>> by_log;
  std::size_t missing = 0;
};

/// The streams of one client, by node.
using Streams = std::map<std::string, std::weak_ptr<ChangeStream>>;

/// Holds the changes that a node has after a move of groups to it, until the client has those of
/// the node that they left. A change of an account can then not come before an earlier one.
ChangeStream::Hold hold_of(const std::vector<postgres::GroupMove>& moves, const std::string& node,
                           const std::shared_ptr<Streams>& streams) {
  std::vector<postgres::GroupMove> here;
  std::ranges::copy_if(moves, std::back_inserter(here),
                       [&](const postgres::GroupMove& move) { return move.to == node; });
  if (here.empty()) return nullptr;
  return [here, streams](const Position& position) {
    return std::ranges::any_of(here, [&](const postgres::GroupMove& move) {
      if (position.timeline == move.arrived_timeline && position.pos < move.arrived_pos) {
        return false;
      }
      const auto from = streams->find(move.from);
      const auto stream = from == streams->end() ? nullptr : from->second.lock();
      return stream && !stream->has_passed({move.left_timeline, move.left_pos});
    });
  };
}

template <class Family, class Combine>
void combine(Family& all, const Family& part, std::size_t count, Combine combine_two) {
  for (std::size_t i = 0; i < count; ++i) {
    all.at(i) =
        combine_two(static_cast<std::uint64_t>(all.at(i)), static_cast<std::uint64_t>(part.at(i)));
  }
}

}  // namespace

NodeFeed::NodeFeed(const std::vector<postgres::Node>& nodes, std::vector<postgres::GroupMove> moves,
                   postgres::Clocks clocks, const ChangeReader::Options& options)
    : moves_(std::move(moves)) {
  if (nodes.empty()) throw std::invalid_argument("a feed needs a node");
  ChangeReader::Options of_log = options;
  of_log.recent_bytes = options.recent_bytes / nodes.size();
  for (const postgres::Node& node : nodes) {
    logs_.push_back(std::make_unique<Log>(node, clocks, of_log));
  }
}

void NodeFeed::start() {
  for (const auto& log : logs_) log->reader.start();
}

void NodeFeed::stop() {
  for (const auto& log : logs_) log->reader.stop();
}

std::variant<std::vector<Start>, FeedError> NodeFeed::starts(const std::string& cursor) const {
  if (cursor == kLive) return std::vector<Start>(logs_.size(), StartLive{});
  if (cursor == kOldest) return std::vector<Start>(logs_.size(), StartOldest{});
  const auto positions = parse_node_positions(cursor);
  if (!positions) {
    return FeedError{400, "InvalidRequest",
                     fmt::format("cursor: '{}' is not a position such as east:1-17,west:1-4711, "
                                 "live or oldest",
                                 cursor)};
  }
  std::size_t used = 0;
  std::vector<Start> starts;
  for (const auto& log : logs_) {
    const auto found = positions->find(log->node);
    // The client has seen nothing of a node that was added since.
    starts.push_back(found == positions->end() ? Start(StartOldest{})
                                               : Start(StartAfter{found->second}));
    used += found == positions->end() ? 0 : 1;
  }
  if (used == positions->size()) return starts;
  return FeedError{
      410, "NodeRemoved",
      "the cursor has a position of a node that does not exist: read the tables again"};
}

void NodeFeed::serve_changes(const std::shared_ptr<Exchange>& exchange) {
  const auto& request = exchange->request();
  auto parsed = parse_change_request(request);
  if (const auto* error = std::get_if<FeedError>(&parsed)) {
    return refuse(own_metrics_, *exchange, *error);
  }
  auto begin = starts(change_cursor(request));
  if (const auto* error = std::get_if<FeedError>(&begin)) {
    return refuse(own_metrics_, *exchange, *error);
  }
  const auto filter = std::get<std::shared_ptr<const ChangeFilter>>(std::move(parsed));
  const auto answers = std::make_shared<Guarded<Answers>>(
      Answers{decltype(Answers::by_log)(logs_.size()), logs_.size()});
  // Runs on the thread of the last reader that answers.
  const auto answer_all = [this, exchange, filter](const Answers& all) {
    const auto positions = std::make_shared<NodePositions>();
    const auto streams = std::make_shared<Streams>();
    std::vector<NodeStream::Part> parts;
    for (std::size_t i = 0; i < logs_.size(); ++i) {
      Log& log = *logs_[i];
      if (const auto* error = std::get_if<FeedError>(&*all.by_log[i])) {
        return refuse(own_metrics_, *exchange,
                      {error->status, error->error,
                       fmt::format("the node {}: {}", log.node, error->message)});
      }
      const auto& opened = std::get<Opened>(*all.by_log[i]);
      (*positions)[log.node] = {opened.timeline, opened.next - 1};
      parts.push_back({log.node, std::make_shared<ChangeStream>(
                                     log.reader, change_form(exchange->request()), opened, filter,
                                     [positions, node = log.node](const Position& position) {
                                       (*positions)[node] = position;
                                       return text_of(*positions);
                                     },
                                     hold_of(moves_, log.node, streams))});
      (*streams)[log.node] = parts.back().stream;
    }
    for (std::size_t i = 0; i < logs_.size(); ++i) logs_[i]->reader.add(parts[i].stream);
    exchange->answer(std::make_shared<NodeStream>(std::move(parts), !moves_.empty()));
  };
  auto& each = std::get<std::vector<Start>>(begin);
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    logs_[i]->reader.open(each[i], [i, answers, answer_all](const auto& opened) {
      const auto complete = answers->with([&](Answers& all) -> std::optional<Answers> {
        all.by_log[i] = opened;
        all.missing -= 1;
        return all.missing == 0 ? std::optional(all) : std::nullopt;
      });
      if (complete) answer_all(*complete);
    });
  }
}

FeedMetrics NodeFeed::metrics() const {
  FeedMetrics all = own_metrics_;
  const auto largest = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
  for (const auto& log : logs_) {
    combine(all.streams, log->metrics.streams, kStreamForms, largest);
    combine(all.stream_behind, log->metrics.stream_behind, kStreamForms, largest);
    combine(all.stream_changes, log->metrics.stream_changes, kStreamForms, std::plus<>());
    combine(all.errors, log->metrics.errors, kFeedErrors.size(), std::plus<>());
  }
  return all;
}

}  // namespace skua::streams
