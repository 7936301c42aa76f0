#include "streams/change_stream.hpp"

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "streams/change_event.hpp"
#include "streams/change_filter.hpp"

namespace skua::streams {

namespace {

using http_server::Exchange;
using http_server::Message;
using http_server::Request;

constexpr std::size_t kMostCollections = 100;
constexpr std::size_t kMostDids = 1'000;

const ChangeFilter::Names kParameters{"cursor", "collection", "did", "op", "kind", "topic"};

Checked<Start> parse_start(const Request& request) {
  const std::string cursor = change_cursor(request);
  if (cursor == kLive) return Start(StartLive{});
  if (cursor == kOldest) return Start(StartOldest{});
  const auto position = parse_position(cursor);
  if (!position) {
    return fmt::format("cursor: '{}' is not a position such as 1-4711, live or oldest", cursor);
  }
  return Start(StartAfter{*position});
}

Checked<ChangeFilter> parse_filter(const Request& request) {
  for (const auto& [name, value] : request.target.query) {
    if (!kParameters.contains(name)) return fmt::format("unknown parameter '{}'", name);
  }
  return parse_change_filter({.collections = parameters(request, "collection"),
                              .dids = parameters(request, "did"),
                              .ops = parameters(request, "op"),
                              .kinds = parameters(request, "kind"),
                              .topics = parameters(request, "topic")},
                             {.patterns = kMostCollections, .accounts = kMostDids});
}

using http_server::StreamEnd;

// Jetstream has the same limits.
constexpr std::size_t kMostWantedCollections = 100;
constexpr std::size_t kMostWantedDids = 10'000;

constexpr std::uint16_t kBadPayload = 1007;
constexpr std::uint16_t kPolicyViolation = 1008;

/// The options that a client chooses at the start and with options_update.
struct JetstreamOptions {
  std::shared_ptr<const ChangeFilter> filter;
  /// Longer messages are not sent; 0 means no limit.
  std::size_t max_bytes = 0;
};

std::optional<std::int64_t> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Checked<JetstreamOptions> make_options(const std::vector<std::string>& collections,
                                       const std::vector<std::string>& dids,
                                       std::int64_t max_bytes) {
  auto wanted = parse_collections(collections, kMostWantedCollections);
  if (!wanted) return std::move(wanted).error();
  auto accounts = parse_dids(dids, kMostWantedDids);
  if (!accounts) return std::move(accounts).error();
  ChangeFilter filter{.collections = *std::move(wanted),
                      .dids = *std::move(accounts),
                      .kinds = {"record", "account", "handle"}};
  return JetstreamOptions{std::make_shared<const ChangeFilter>(std::move(filter)),
                          static_cast<std::size_t>(std::max<std::int64_t>(max_bytes, 0))};
}

class JetstreamStream final : public FeedStream {
 public:
  JetstreamStream(ChangeReader& reader, const Opened& opened, JetstreamOptions options,
                  bool requires_hello)
      : FeedStream(reader, StreamForm::Jetstream, opened, options.filter),
        max_bytes_(options.max_bytes) {
    set_waits(requires_hello);
  }

  std::optional<StreamEnd> receive(std::string_view text) override {
    const OptionsUpdate update = parse_options_update(text);
    switch (update.kind) {
      case OptionsUpdate::Kind::Update:
        break;
      case OptionsUpdate::Kind::Other:
        return std::nullopt;
      case OptionsUpdate::Kind::Malformed:
        return refused("InvalidMessage", "expected an object with type and payload", kBadPayload);
      case OptionsUpdate::Kind::NoPayload:
        return refused("InvalidMessage", "options_update needs a payload", kBadPayload);
      case OptionsUpdate::Kind::BadList:
        return refused("InvalidOptions",
                       "wantedCollections and wantedDids must be lists of texts, not too many",
                       kPolicyViolation);
    }
    auto options = make_options(update.collections, update.dids, update.max_bytes);
    if (!options) return refused("InvalidOptions", options.error(), kPolicyViolation);
    set_filter(std::move(options->filter));
    max_bytes_ = options->max_bytes;
    set_waits(false);
    return std::nullopt;
  }

 private:
  std::optional<Message> message_of(const ChangeEvent& event, std::int64_t time_us) const override {
    auto text = jetstream_json(event, time_us);
    if (!text || (max_bytes_ > 0 && text->size() > max_bytes_)) return std::nullopt;
    return Message{*std::move(text)};
  }

  std::size_t max_bytes_;
};

bool is_true(const Request& request, std::string_view name) {
  return parameter(request, name) == "true";
}

std::optional<FeedError> refusal_of(const Request& request) {
  if (!request.is_websocket) return FeedError{426, "UpgradeRequired", "this is a websocket"};
  if (is_true(request, "compress")) {
    return FeedError{400, "CompressionNotSupported",
                     "compress=true is not supported: leave it out"};
  }
  return std::nullopt;
}

Checked<Start> parse_cursor(const Request& request) {
  const auto cursor = parameter(request, "cursor");
  if (!cursor || cursor->empty()) return Start(StartLive{});
  const auto time_us = parse_number(*cursor);
  // PostgreSQL cannot represent a later time than the end of the year 9999.
  if (!time_us || *time_us < 0 || *time_us > 253'402'300'799'000'000) {
    return std::string("cursor: expected microseconds since 1970");
  }
  return Start(StartAt{*time_us});
}

Checked<JetstreamOptions> parse_options(const Request& request) {
  const auto longest = parse_number(parameter(request, "maxMessageSizeBytes").value_or("0"));
  return make_options(parameters(request, "wantedCollections"), parameters(request, "wantedDids"),
                      longest.value_or(0));
}

}  // namespace

std::optional<Message> ChangeStream::heartbeat() {
  const auto pos = position_text_(position());
  return Message{fmt::format(R"({{"pos":"{}","kind":"heartbeat"}})", pos), pos, "heartbeat"};
}

std::optional<Message> ChangeStream::message_of(const ChangeEvent& event,
                                                std::int64_t /*time_us*/) const {
  std::string pos = position_text_({event.timeline, event.pos});
  std::string json = change_json(event, pos);
  return Message{std::move(json), std::move(pos)};
}

std::string change_cursor(const Request& request) {
  if (!request.last_event_id.empty()) return request.last_event_id;
  return parameter(request, "cursor").value_or(std::string(kLive));
}

std::variant<std::shared_ptr<const ChangeFilter>, FeedError> parse_change_request(
    const Request& request) {
  if (!request.is_websocket && !http_server::accepts_event_stream(request.accept)) {
    return FeedError{406, "NotAcceptable", "expected Accept: text/event-stream, or a websocket"};
  }
  auto parsed = parse_filter(request);
  if (!parsed) return FeedError{400, "InvalidRequest", parsed.error()};
  return std::make_shared<const ChangeFilter>(*std::move(parsed));
}

StreamForm change_form(const Request& request) {
  return request.is_websocket ? StreamForm::Websocket : StreamForm::ServerSentEvents;
}

void serve_changes(ChangeReader& reader, const std::shared_ptr<Exchange>& exchange) {
  const auto& request = exchange->request();
  auto parsed = parse_change_request(request);
  if (const auto* error = std::get_if<FeedError>(&parsed)) {
    return refuse(reader.metrics(), *exchange, *error);
  }
  auto start = parse_start(request);
  if (!start) {
    return refuse(reader.metrics(), *exchange, {400, "InvalidRequest", start.error()});
  }
  auto filter = std::get<std::shared_ptr<const ChangeFilter>>(std::move(parsed));
  reader.open(*std::move(start), [&reader, exchange, filter](const auto& opened) {
    if (const auto* error = std::get_if<FeedError>(&opened)) {
      return refuse(reader.metrics(), *exchange, *error);
    }
    auto stream = std::make_shared<ChangeStream>(reader, change_form(exchange->request()),
                                                 std::get<Opened>(opened), filter,
                                                 [](const Position& pos) { return pos.text(); });
    reader.add(stream);
    exchange->answer(std::move(stream));
  });
}

void serve_jetstream(ChangeReader& reader, const std::shared_ptr<Exchange>& exchange) {
  const auto& request = exchange->request();
  auto refusal = refusal_of(request);
  auto start = parse_cursor(request);
  auto options = parse_options(request);
  if (!refusal && !start) refusal = FeedError{400, "InvalidRequest", start.error()};
  if (!refusal && !options) refusal = FeedError{400, "InvalidRequest", options.error()};
  if (refusal) return refuse(reader.metrics(), *exchange, *refusal);
  const bool requires_hello = is_true(request, "requireHello");
  reader.open(*std::move(start),
              [&reader, exchange, options = *options, requires_hello](const auto& opened) {
                if (const auto* error = std::get_if<FeedError>(&opened)) {
                  return refuse(reader.metrics(), *exchange, *error);
                }
                auto stream = std::make_shared<JetstreamStream>(reader, std::get<Opened>(opened),
                                                                options, requires_hello);
                reader.add(stream);
                exchange->answer(std::move(stream));
              });
}

}  // namespace skua::streams
