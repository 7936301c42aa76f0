#include <algorithm>
#include <array>
#include <utility>

#include <boost/beast/http/field.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <fmt/format.h>

#include "jetstream_session.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;
using boost::beast::websocket::close_code;
using Json = nlohmann::ordered_json;

constexpr std::string_view kSubprotocol = "xrpc.v1.json";
/// A cursor from this value on is a time in microseconds.
constexpr std::int64_t kFirstTime = 1'000'000'000'000'000;

struct Notice {
  std::string name;
  std::string message;
};

struct V2Options {
  JetstreamFilter filter;
  std::int64_t first = 0;
  std::optional<Notice> notice;
  bool compress = false;
};

Response invalid(const std::string& message) {
  return error_response(400, "InvalidRequest", message);
}

/// Parameters of v1 would have no effect here: they are refused.
std::optional<Response> old_parameter(const Request& request) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kOld = {
      {{"wantedDids", "use dids"},
       {"wantedCollections", "use collections"},
       {"requireHello", "this endpoint is server-push only"},
       {"compress", "this endpoint uses zstdDictionary=<id>"}}};
  for (const auto& [name, words] : kOld) {
    if (request.query.contains(name)) return invalid(fmt::format("{}: {}", name, words));
  }
  return std::nullopt;
}

Outcome<JetstreamFilter> filter_of(const Request& request) {
  const auto collections = all_of(request, "collections");
  auto filter = make_jetstream_filter(collections, all_of(request, "dids"));
  if (!filter) return invalid(filter.error());
  constexpr std::array<std::string_view, 4> kV2Kinds = {"commit", "identity", "account", "sync"};
  for (const auto& kind : all_of(request, "kinds")) {
    if (std::ranges::find(kV2Kinds, kind) == kV2Kinds.end()) {
      return invalid(fmt::format("unknown kind \"{}\"", kind));
    }
    filter->kinds.insert(kind);
  }
  if (!collections.empty() && !filter->kinds.empty() && !filter->kinds.contains("commit")) {
    return invalid("collections can never apply when kinds excludes commit");
  }
  const auto longest = number_of(request, "maxMessageSizeBytes", 0, 0, 4'294'967'295);
  if (!longest) return longest.error();
  filter->longest = static_cast<std::size_t>(*longest);
  return *std::move(filter);
}

/// Where to start, and the notice to send about it.
Outcome<V2Options> begin_of(const Request& request, const JetstreamLog& log) {
  V2Options options;
  const auto cursor = cursor_of(request);
  if (!cursor) return cursor.error();
  options.first = log.end();
  if (!*cursor) return options;
  const auto asked = std::max<std::int64_t>(**cursor, 1);
  if (asked >= kFirstTime) {
    options.first = log.seq_at(asked);
    const bool outdated =
        log.begin() < log.end() && log.begin() > 1 && options.first == log.begin();
    if (outdated && asked < log.at(log.begin()).time_us) {
      options.notice = {"OutdatedCursor", fmt::format("resumed from seq {}", log.begin())};
    }
  } else if (asked > log.end()) {
    options.notice = {"FutureCursor", fmt::format("starting at the live tip, seq {}", log.end())};
  } else if (asked < log.begin()) {
    return error_response(400, "CursorTooOld",
                          fmt::format("cursor too old: cursor {} below lookback floor {}; "
                                      "re-backfill from your last seq",
                                      asked, log.begin()));
  } else {
    options.first = asked;
  }
  return options;
}

Outcome<V2Options> v2_options(const Request& request, const JetstreamHost& host) {
  if (auto old = old_parameter(request)) return *std::move(old);
  auto filter = filter_of(request);
  if (!filter) return filter.error();
  const auto wanted = number_of(request, "zstdDictionary", 0, 1, 4'294'967'295);
  if (!wanted) return invalid("zstdDictionary must be a positive integer zstd dictionary ID");
  const std::int64_t current = host.dictionary == nullptr ? 0 : host.dictionary->id();
  if (*wanted != 0 && *wanted != current) {
    return error_response(
        400, "UnknownZstdDictionary",
        fmt::format("unknown zstd dictionary id {}; current dictionary id is {} (fetch it via "
                    "getZstdDictionary and reconnect)",
                    *wanted, current));
  }
  auto options = begin_of(request, host.log);
  if (!options) return options.error();
  options->filter = *std::move(filter);
  options->compress = *wanted != 0;
  return options;
}

class V2Session final : public JetstreamSession {
 public:
  V2Session(JetstreamHost& host, std::unique_ptr<Websocket> websocket, V2Options options)
      : JetstreamSession(host, std::move(websocket), std::move(options.filter), options.first,
                         options.compress),
        notice_(std::move(options.notice)) {}

 private:
  std::string subprotocol(const Upgrade& upgrade) const override {
    const auto offered = upgrade[boost::beast::http::field::sec_websocket_protocol];
    std::string_view words(offered.data(), offered.size());
    while (!words.empty()) {
      auto word = words.substr(0, words.find(','));
      words.remove_prefix(std::min(word.size() + 1, words.size()));
      word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
      if (word == kSubprotocol) return std::string(kSubprotocol);
    }
    return {};
  }

  asio::awaitable<void> begin() override {
    if (!notice_) co_return;
    co_await send_notice(*notice_);
  }

  std::string_view text_of(const JetstreamEvent& event) const override { return event.v2; }

  asio::awaitable<void> send_notice(const Notice& notice) {
    const Json frame = {{"$type", "message"},
                        {"payload",
                         {{"$type", "network.bsky.jetstream.subscribeEvents#info"},
                          {"name", notice.name},
                          {"message", notice.message}}}};
    const auto text = frame.dump();
    co_await send_text(text);
  }

  asio::awaitable<void> send_info() override {
    const Notice notice = {"OutdatedCursor", "as skua-sim was told"};
    co_await send_notice(notice);
  }

  asio::awaitable<void> fail(const std::string& name, const std::string& message) override {
    const Json frame = {{"$type", "error"}, {"error", name}, {"message", message}};
    const auto text = frame.dump();
    co_await send_text(text);
    co_await close(close_code::policy_error, name);
  }

  asio::awaitable<void> hear(std::string_view /*message*/) override {
    const std::string words = "this endpoint is server-push only";
    co_await close(close_code::policy_error, words);
  }

  const std::optional<Notice> notice_;
};

}  // namespace

WebsocketOffer offer_jetstream_v2(JetstreamHost& host) {
  WebsocketOffer offer;
  offer.refuse = [&host](const Request& request) -> std::optional<Response> {
    const auto options = v2_options(request, host);
    return options ? std::nullopt : std::optional(options.error());
  };
  offer.open = [&host](const Request& request, std::unique_ptr<Websocket> websocket) {
    return std::make_shared<V2Session>(host, std::move(websocket), *v2_options(request, host));
  };
  return offer;
}

Router jetstream_routes(const JetstreamHost& host) {
  Router router;
  router.get("/xrpc/_health", [](const Request&) {
    return json_response({{"version", "skua-sim"}});
  });
  router.get("/xrpc/network.bsky.jetstream.getZstdDictionary", [&host](const Request& request) {
    const auto id = number_of(request, "id", 0, 1, 4'294'967'295);
    if (!id) return id.error();
    const auto* const dictionary = host.dictionary;
    if (dictionary == nullptr || (*id != 0 && *id != dictionary->id())) {
      return error_response(404, "DictionaryNotFound", "no such dictionary is available here");
    }
    Response response;
    response.content_type = "application/octet-stream";
    response.body = dictionary->content();
    return response;
  });
  return router;
}

}  // namespace skua::sim
