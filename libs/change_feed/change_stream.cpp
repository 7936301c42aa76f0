#include "change_feed/change_stream.hpp"

#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "change_feed/change_json.hpp"
#include "change_feed/feed_stream.hpp"
#include "change_feed/refuse.hpp"

namespace skua::change_feed {
namespace {

using http_server::Exchange;
using http_server::Message;
using http_server::Request;

constexpr std::size_t kMostCollections = 100;
constexpr std::size_t kMostDids = 1'000;

const ChangeFilter::Names kParameters{"cursor", "collection", "did", "op", "kind"};

class ChangeStream final : public FeedStream {
 public:
  using FeedStream::FeedStream;

  std::optional<Message> heartbeat() override {
    const auto pos = position().text();
    return Message{fmt::format(R"({{"pos":"{}","kind":"heartbeat"}})", pos), pos, "heartbeat"};
  }

 private:
  std::optional<Message> message_of(const ChangeEvent& event,
                                    std::int64_t /*time_us*/) const override {
    return Message{change_json(event), Position{event.timeline, event.pos}.text()};
  }
};

Checked<Start> parse_start(const Request& request) {
  // A client that reconnects knows better than its URL.
  const auto cursor = request.last_event_id.empty() ? parameter(request, "cursor")
                                                    : std::optional(request.last_event_id);
  if (!cursor || *cursor == "live") return Start(StartLive{});
  if (*cursor == "oldest") return Start(StartOldest{});
  const auto position = parse_position(*cursor);
  if (!position) {
    return fmt::format("cursor: '{}' is not a position such as 1-4711, live or oldest", *cursor);
  }
  return Start(StartAfter{*position});
}

Checked<ChangeFilter> parse_filter(const Request& request) {
  for (const auto& [name, value] : request.target.query) {
    if (!kParameters.contains(name)) return fmt::format("unknown parameter '{}'", name);
  }
  auto collections = parse_collections(parameters(request, "collection"), kMostCollections);
  if (!collections) return std::move(collections).error();
  auto dids = parse_dids(parameters(request, "did"), kMostDids);
  if (!dids) return std::move(dids).error();
  auto ops = parse_choice("op", parameters(request, "op"), known_operations());
  if (!ops) return std::move(ops).error();
  auto kinds = parse_choice("kind", parameters(request, "kind"), known_kinds());
  if (!kinds) return std::move(kinds).error();
  return ChangeFilter{*std::move(collections), *std::move(dids), *std::move(ops),
                      *std::move(kinds)};
}

}  // namespace

void serve_changes(ChangeReader& reader, const std::shared_ptr<Exchange>& exchange) {
  const auto& request = exchange->request();
  if (!request.is_websocket && !http_server::accepts_event_stream(request.accept)) {
    return refuse(reader.metrics(), *exchange,
                  {406, "NotAcceptable", "expected Accept: text/event-stream, or a websocket"});
  }
  auto start = parse_start(request);
  if (!start) {
    return refuse(reader.metrics(), *exchange, {400, "InvalidRequest", start.error()});
  }
  auto parsed = parse_filter(request);
  if (!parsed) {
    return refuse(reader.metrics(), *exchange, {400, "InvalidRequest", parsed.error()});
  }
  auto filter = std::make_shared<const ChangeFilter>(*std::move(parsed));
  reader.open(*std::move(start), [&reader, exchange, filter](const auto& opened) {
    if (const auto* error = std::get_if<FeedError>(&opened)) {
      return refuse(reader.metrics(), *exchange, *error);
    }
    const auto form =
        exchange->request().is_websocket ? StreamForm::Websocket : StreamForm::ServerSentEvents;
    auto stream = std::make_shared<ChangeStream>(reader, form, std::get<Opened>(opened), filter);
    reader.add(stream);
    exchange->answer(std::move(stream));
  });
}

}  // namespace skua::change_feed
