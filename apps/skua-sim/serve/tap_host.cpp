#include "serve/tap_host.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <boost/beast/websocket/rfc6455.hpp>

#include "atproto/syntax.hpp"

namespace skua::sim {

namespace {

/// While the outbox has more events than this, no repository is read.
constexpr std::size_t kOutboxRoom = 100'000;
/// The time limit for one round of reading, so that connections are served between rounds.
constexpr auto kResyncTurn = std::chrono::milliseconds(5);
constexpr auto kBetweenTurns = std::chrono::milliseconds(1);
constexpr auto kIdle = std::chrono::milliseconds(10);

namespace asio = boost::asio;
using boost::beast::websocket::close_code;

/// A client of /channel: sends the events of the outbox, and receives acks. Tap itself does not
/// ping; this server pings at a long interval to detect dead clients.
class TapSession final : public WebsocketSession {
 public:
  TapSession(TapHost& host, std::unique_ptr<Websocket> websocket)
      : WebsocketSession(host.sessions(), std::move(websocket)), host_(host) {}

 private:
  asio::awaitable<void> serve() override {
    log("connect", {{"last_id", host_.outbox().last_id()}});
    host_.join(number(), [this] { wake(); });
    std::size_t sent = 0;
    while (!gone()) {
      if (!host_.outbox().has_next()) {
        co_await wait();
        continue;
      }
      const auto place = host_.outbox().counts().sent + 1;
      const bool damaged = co_await inject_at(place, std::nullopt);
      if (gone()) break;
      // Another client may have taken the message in the meantime.
      if (!host_.outbox().has_next()) continue;
      auto message = host_.outbox().next();
      if (damaged) message.resize(message.size() / 2);
      const auto bytes = as_bytes(message);
      co_await send(Websocket::Kind::text, bytes);
      ++sent;
    }
    host_.part(number());
    log("disconnect", {{"why", why()}, {"frames", sent}, {"acks", acks_}});
  }

  asio::awaitable<void> hear(std::string_view message) override {
    const auto ack = nlohmann::json::parse(message, nullptr, false);
    const bool is_ack = ack.is_object() && ack.value("type", nlohmann::json()) == "ack" &&
                        ack.contains("id") && ack["id"].is_number_unsigned();
    if (is_ack) {
      ++acks_;
      host_.ack(ack["id"].get<std::uint64_t>());
    } else if (!ack.is_object()) {
      const std::string words = "that is no JSON";
      co_await close(close_code::bad_payload, words);
    }
  }

  TapHost& host_;
  std::size_t acks_ = 0;
};

using Json = nlohmann::ordered_json;

Response problem(unsigned status, const std::string& message) {
  return json_response({{"message", message}}, status);
}

Outcome<std::vector<std::string>> dids_of(const Request& request) {
  const auto body = Json::parse(request.body, nullptr, false);
  if (!body.is_object() || !body.contains("dids") || !body["dids"].is_array()) {
    return problem(400, "the body must be {\"dids\":[...]}");
  }
  std::vector<std::string> dids;
  for (const auto& did : body["dids"]) {
    if (!did.is_string()) return problem(400, "a DID is a string");
    dids.push_back(did.get<std::string>());
  }
  return dids;
}

Response nothing() {
  return text_response("");
}

Response info(const Request& request, const TapTracker& tracker) {
  const auto& did = request.segments.at("did");
  const auto* const repo = tracker.repo(did);
  if (repo == nullptr) return problem(404, "repo not found");
  return json_response({{"did", did},
                        {"handle", repo->handle},
                        {"state", state_name(repo->state)},
                        {"rev", repo->rev},
                        {"error", repo->error},
                        {"retries", repo->retries},
                        {"records", repo->records.size()}});
}

Response resolve(const Request& request, const Network& network) {
  const auto& did = request.segments.at("did");
  if (!did.starts_with("did:")) return problem(400, "improperly formatted DID");
  const auto document = network.did_document(did);
  return document.is_null() ? problem(404, "DID not found") : json_response(document);
}

Response count(const char* name, std::size_t number) {
  return json_response({{name, number}});
}

Response resync(const Request& request, TapHost& tap) {
  const auto body = Json::parse(request.body, nullptr, false);
  if (!body.is_object() || !body.contains("did")) {
    tap.tracker().resync_lost();
    return json_response(tap.metrics());
  }
  const bool all = body.value("all", true);
  if (!body["did"].is_string() || !tap.tracker().resync(body["did"].get<std::string>(), all)) {
    return error_response(404, "NotFound", "Tap does not track this DID");
  }
  return json_response(tap.metrics());
}

Response stalled(const Request& request, const TapOutbox& outbox) {
  const auto milliseconds = number_of(request, "ms", 0, 0, 86'400'000);
  if (!milliseconds) return milliseconds.error();
  const std::chrono::milliseconds at_least(*milliseconds);
  Json accounts = Json::array();
  for (const auto& stall : outbox.stalls(at_least, TapHost::Clock::now())) {
    accounts.push_back({{"did", stall.did},
                        {"id", stall.id},
                        {"live", stall.live},
                        {"deliveries", stall.deliveries},
                        {"ms", stall.since.count()},
                        {"waiting", stall.waiting}});
  }
  return json_response({{"accounts", accounts}});
}

}  // namespace

TapHost::TapHost(boost::asio::io_context& io, const Network& network, const TapOptions& options,
                 SessionHost sessions)
    : outbox_(options.retry_after),
      tracker_(network, outbox_, options.full_network),
      retry_after_(options.retry_after),
      sessions_(std::move(sessions)),
      reading_(io),
      retries_(io) {}

void TapHost::start() {
  read_repositories();
  retry();
}

void TapHost::stop() {
  stopped_ = true;
  reading_.cancel();
  retries_.cancel();
}

void TapHost::read_repositories() {
  const auto began = Clock::now();
  const auto has_work = [this] {
    return tracker_.has_resyncs() && outbox_.unacked() < kOutboxRoom;
  };
  while (has_work() && Clock::now() - began < kResyncTurn) tracker_.resync_next(began);
  wake_clients();
  reading_.expires_after(has_work() ? kBetweenTurns : kIdle);
  reading_.async_wait([this](boost::system::error_code error) {
    if (!error && !stopped_) read_repositories();
  });
}

void TapHost::retry() {
  outbox_.retry(Clock::now());
  wake_clients();
  retries_.expires_after(retry_after_);
  retries_.async_wait([this](boost::system::error_code error) {
    if (!error && !stopped_) retry();
  });
}

void TapHost::hear(std::size_t host, const Message& message) {
  tracker_.hear(host, message, Clock::now());
  wake_clients();
}

void TapHost::ack(std::uint64_t id) {
  outbox_.ack(id, Clock::now());
  wake_clients();
}

void TapHost::restart(TapOutbox::End end) {
  if (drop_connections_) drop_connections_();
  outbox_.restart(end, Clock::now());
}

bool TapHost::inject(const Fault& fault) {
  const auto now = Clock::now();
  bool done = true;
  switch (fault.kind) {
    case FaultKind::tap_restart:
      restart(TapOutbox::End::clean);
      break;
    case FaultKind::tap_crash:
      restart(TapOutbox::End::crash);
      break;
    case FaultKind::tap_renumber:
      restart(TapOutbox::End::renumber);
      break;
    case FaultKind::tap_lose:
      tracker_.lose_commits(static_cast<std::size_t>(fault.number));
      break;
    case FaultKind::tap_unknown:
      done = tracker_.say_unknown(now);
      break;
    case FaultKind::tap_poison:
      done = tracker_.say_poison(now);
      break;
    case FaultKind::tap_no_record:
      done = tracker_.say_no_record(now);
      break;
    case FaultKind::tap_repeat:
      outbox_.repeat_next();
      break;
    default:
      return false;
  }
  wake_clients();
  return done;
}

nlohmann::ordered_json TapHost::metrics() const {
  const auto& counts = outbox_.counts();
  return {{"unacked", outbox_.unacked()},
          {"in_flight", outbox_.in_flight()},
          {"waiting", outbox_.unacked() - outbox_.in_flight()},
          {"last_id", outbox_.last_id()},
          {"added", counts.added},
          {"sent", counts.sent},
          {"redelivered", counts.redelivered},
          {"acked", counts.acked},
          {"acked_unknown", counts.acked_unknown},
          {"acked_unsent", counts.acked_unsent},
          {"restarts", counts.restarts},
          {"repos", tracker_.repos()},
          {"resyncs", tracker_.resyncs()},
          {"clients", clients_.size()}};
}

void TapHost::wake_clients() {
  if (!outbox_.has_next()) return;
  for (const auto& [number, wake] : clients_) wake();
}

WebsocketOffer offer_channel(TapHost& host) {
  WebsocketOffer offer;
  offer.refuse = [](const Request&) -> std::optional<Response> { return std::nullopt; };
  offer.open = [&host](const Request&, std::unique_ptr<Websocket> websocket) {
    return std::make_shared<TapSession>(host, std::move(websocket));
  };
  return offer;
}

Router tap_routes(TapHost& tap, const Network& network, const MessageLog& relay) {
  auto& tracker = tap.tracker();
  Router router;
  router.get("/health", [](const Request&) { return json_response({{"status", "ok"}}); });
  router.post("/repos/add", [&tracker](const Request& request) {
    const auto dids = dids_of(request);
    if (!dids) return dids.error();
    for (const auto& did : *dids) tracker.track(did);
    return nothing();
  });
  router.post("/repos/remove", [&tracker](const Request& request) {
    const auto dids = dids_of(request);
    if (!dids) return dids.error();
    for (const auto& did : *dids) tracker.untrack(did);
    return nothing();
  });
  router.get("/resolve/:did",
             [&network](const Request& request) { return resolve(request, network); });
  router.get("/info/:did", [&tracker](const Request& request) { return info(request, tracker); });
  router.get("/stats/repo-count",
             [&tracker](const Request&) { return count("repo_count", tracker.repos()); });
  router.get("/stats/record-count",
             [&tracker](const Request&) { return count("record_count", tracker.records()); });
  router.get("/stats/outbox-buffer",
             [&tap](const Request&) { return count("outbox_buffer", tap.outbox().unacked()); });
  router.get("/stats/resync-buffer", [](const Request&) { return count("resync_buffer", 0); });
  router.get("/stats/cursors", [&network, &relay](const Request&) {
    const auto& dids = network.dids();
    return json_response({{"firehose", relay.last_seq().value_or(0)},
                          {"list_repos", dids.empty() ? std::string() : dids.back()}});
  });
  return router;
}

void add_tap_control(Router& router, TapHost& tap) {
  router.post("/tap/resync", [&tap](const Request& request) { return resync(request, tap); });
  router.get("/tap/stalled",
             [&tap](const Request& request) { return stalled(request, tap.outbox()); });
}

}  // namespace skua::sim
