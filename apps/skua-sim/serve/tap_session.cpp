#include <utility>

#include <boost/beast/websocket/rfc6455.hpp>

#include "tap_host.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;
using boost::beast::websocket::close_code;

/// A client of /channel: sends the events of the outbox, receives acks. Tap itself does not ping;
/// this server pings at a long interval, to detect dead clients.
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
      // Another client may have taken it in the meantime.
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

}  // namespace

WebsocketOffer offer_channel(TapHost& host) {
  WebsocketOffer offer;
  offer.refuse = [](const Request&) -> std::optional<Response> { return std::nullopt; };
  offer.open = [&host](const Request&, std::unique_ptr<Websocket> websocket) {
    return std::make_shared<TapSession>(host, std::move(websocket));
  };
  return offer;
}

}  // namespace skua::sim
