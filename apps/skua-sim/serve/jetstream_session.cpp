#include "serve/jetstream_session.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <boost/beast/http/field.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <fmt/format.h>

namespace skua::sim {

namespace {

constexpr std::size_t kMostCollections = 100;
constexpr std::size_t kMostDids = 10'000;

namespace asio = boost::asio;
using boost::beast::websocket::close_code;

struct V1Options {
  JetstreamFilter filter;
  /// The cursor in microseconds; nothing for a live start.
  std::optional<std::int64_t> cursor;
  bool compress = false;
  /// If true, nothing is sent before the first options_update.
  bool require_hello = false;
};

bool is_true(const Request& request, std::string_view name) {
  const auto found = request.query.find(name);
  return found != request.query.end() && found->second == "true";
}

/// Reads the maximum size. A text that is not a number, or a negative number, means no limit.
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

/// Reads `{"type":"options_update","payload":{...}}`. An absent list means no restriction.
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

namespace asio = boost::asio;
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

/// Refuses parameters of v1, which would have no effect here.
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

/// Returns where to start, and the notice to send about the start.
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

bool JetstreamFilter::wants(const JetstreamEvent& event) const {
  if (!dids.empty() && !dids.contains(event.did)) return false;
  if (!kinds.empty() && !kinds.contains(event.kind)) return false;
  return event.kind != "commit" || collections.passes(event.collection);
}

boost::system::result<JetstreamFilter, std::string> make_jetstream_filter(
    const std::vector<std::string>& collections, const std::vector<std::string>& dids) {
  JetstreamFilter filter;
  for (const auto& collection : collections) {
    if (!atproto::is_collection_pattern(collection)) return "invalid collection: " + collection;
  }
  if (std::set(collections.begin(), collections.end()).size() > kMostCollections) {
    return std::string("too many wanted collections: > 100");
  }
  filter.collections = atproto::CollectionFilter(collections);
  for (const auto& did : dids) {
    if (!did.starts_with("did:")) return "invalid DID: " + did;
    filter.dids.insert(did);
  }
  if (filter.dids.size() > kMostDids) return std::string("too many wanted DIDs: > 10000");
  return filter;
}

namespace asio = boost::asio;

JetstreamSession::JetstreamSession(JetstreamHost& host, std::unique_ptr<Websocket> websocket,
                                   JetstreamFilter filter, std::int64_t first, bool compresses)
    : WebsocketSession(host.sessions, std::move(websocket)),
      host_(host),
      filter_(std::move(filter)),
      position_(first),
      compresses_(compresses) {}

asio::awaitable<void> JetstreamSession::send_text(std::string_view text) {
  if (compresses_) {
    const auto frame = host_.dictionary->compressed(as_bytes(text));
    co_await send(Websocket::Kind::binary, frame);
  } else {
    const auto bytes = as_bytes(text);
    co_await send(Websocket::Kind::text, bytes);
  }
}

asio::awaitable<void> JetstreamSession::serve() {
  auto& events = host_.log;
  log("connect", {{"first_seq", position_}});
  events.join(number(), [this] { wake(); });
  co_await begin();
  std::size_t sent = 0;
  while (!gone()) {
    if (position_ >= events.end()) {
      co_await wait();
      continue;
    }
    const bool damaged = co_await inject_at(static_cast<std::uint64_t>(position_), position_);
    if (gone()) break;
    if (position_ < events.begin()) {
      const std::string name = "ConsumerTooSlow";
      const std::string message = "what comes next is no longer kept";
      co_await fail(name, message);
      break;
    }
    const auto& event = events.at(position_++);
    auto text = std::string(text_of(event));
    const bool too_long = filter_.longest > 0 && text.size() > filter_.longest;
    if (text.empty() || too_long || !filter_.wants(event)) continue;
    if (damaged) text.resize(text.size() / 2);
    co_await send_text(text);
    ++sent;
  }
  leave("client");
  events.part(number());
  log("disconnect", {{"why", why()}, {"frames", sent}, {"next_seq", position_}});
}

WebsocketOffer offer_jetstream_v1(JetstreamHost& host) {
  WebsocketOffer offer;
  offer.refuse = [&host](const Request& request) -> std::optional<Response> {
    const auto options = v1_options(request, host);
    return options ? std::nullopt : std::optional(options.error());
  };
  offer.open = [&host](const Request& request, std::unique_ptr<Websocket> websocket) {
    auto options = *v1_options(request, host);
    // A cursor before the kept events starts at the oldest event. A cursor in the future starts
    // live.
    const auto first = options.cursor ? host.log.seq_at(*options.cursor) : host.log.end();
    return std::make_shared<V1Session>(host, std::move(websocket), std::move(options), first);
  };
  return offer;
}

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
