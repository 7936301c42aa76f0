#include <utility>

#include <boost/beast/websocket/rfc6455.hpp>

#include "jetstream_session.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;
using boost::beast::websocket::close_code;

struct V1Options {
  JetstreamFilter filter;
  /// In microseconds; nothing: live.
  std::optional<std::int64_t> cursor;
  bool compress = false;
  /// Nothing is sent before the first options_update.
  bool require_hello = false;
};

bool is_true(const Request& request, std::string_view name) {
  const auto found = request.query.find(name);
  return found != request.query.end() && found->second == "true";
}

/// A text that is not a number, or a negative number, means no limit.
std::size_t longest_of(const Request& request) {
  const auto longest = number_of(request, "maxMessageSizeBytes", 0, 0, 4'294'967'295);
  return longest ? static_cast<std::size_t>(*longest) : 0;
}

Response refusal(const std::string& words) {
  auto response = text_response(words + "\n");
  response.status = 400;
  return response;
}

Outcome<V1Options> v1_options(const Request& request, const JetstreamHost& host) {
  V1Options options;
  auto filter =
      make_jetstream_filter(all_of(request, "wantedCollections"), all_of(request, "wantedDids"));
  if (!filter) return refusal(filter.error());
  options.filter = *std::move(filter);
  options.filter.longest = longest_of(request);
  const auto cursor = cursor_of(request);
  if (!cursor) return refusal("invalid cursor");
  options.cursor = *cursor;
  options.compress = is_true(request, "compress");
  if (options.compress && host.dictionary == nullptr) return refusal("compression not supported");
  options.require_hello = is_true(request, "requireHello");
  return options;
}

/// `{"type":"options_update","payload":{...}}`: an absent list means no restriction.
boost::system::result<JetstreamFilter, std::string> filter_of(const nlohmann::json& payload) {
  const auto words_of = [&payload](const char* name) {
    std::vector<std::string> words;
    if (payload.contains(name) && payload[name].is_array()) {
      for (const auto& word : payload[name]) {
        words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
      }
    }
    return words;
  };
  auto filter = make_jetstream_filter(words_of("wantedCollections"), words_of("wantedDids"));
  if (!filter || !payload.contains("maxMessageSizeBytes")) return filter;
  const auto& longest = payload["maxMessageSizeBytes"];
  if (longest.is_number_unsigned()) filter->longest = longest.get<std::size_t>();
  return filter;
}

class V1Session final : public JetstreamSession {
 public:
  V1Session(JetstreamHost& host, std::unique_ptr<Websocket> websocket, V1Options options,
            std::int64_t first)
      : JetstreamSession(host, std::move(websocket), std::move(options.filter), first,
                         options.compress),
        waits_for_hello_(options.require_hello) {}

 private:
  asio::awaitable<void> begin() override {
    while (waits_for_hello_ && !gone()) co_await wait();
  }

  std::string_view text_of(const JetstreamEvent& event) const override { return event.v1; }

  asio::awaitable<void> hear(std::string_view message) override {
    const auto told = nlohmann::json::parse(message, nullptr, false);
    if (!told.is_object()) {
      const std::string words = "bad SubscriberSourcedMessage envelope";
      co_await close(close_code::bad_payload, words);
      co_return;
    }
    if (told.value("type", nlohmann::json()) != "options_update") co_return;
    const auto payload = told.value("payload", nlohmann::json::object());
    if (!payload.is_object()) {
      const std::string words = "bad options_update payload";
      co_await close(close_code::bad_payload, words);
      co_return;
    }
    auto filter = filter_of(payload);
    if (!filter) {
      const auto words = filter.error().substr(0, 120);
      co_await close(close_code::policy_error, words);
      co_return;
    }
    set_filter(*std::move(filter));
    log("options_update", {{"payload", payload}});
    waits_for_hello_ = false;
    wake();
  }

  bool waits_for_hello_;
};

}  // namespace

WebsocketOffer offer_jetstream_v1(JetstreamHost& host) {
  WebsocketOffer offer;
  offer.refuse = [&host](const Request& request) -> std::optional<Response> {
    const auto options = v1_options(request, host);
    return options ? std::nullopt : std::optional(options.error());
  };
  offer.open = [&host](const Request& request, std::unique_ptr<Websocket> websocket) {
    auto options = *v1_options(request, host);
    // A cursor before the kept events: start at the oldest. A cursor in the future: live.
    const auto first = options.cursor ? host.log.seq_at(*options.cursor) : host.log.end();
    return std::make_shared<V1Session>(host, std::move(websocket), std::move(options), first);
  };
  return offer;
}

}  // namespace skua::sim
