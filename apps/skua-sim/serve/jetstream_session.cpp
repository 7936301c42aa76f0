#include "jetstream_session.hpp"

#include <utility>

namespace skua::sim {

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

}  // namespace skua::sim
