#include "serve/stream_session.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <boost/beast/websocket/rfc6455.hpp>

#include "serve/event_frame.hpp"

namespace skua::sim {
namespace {

namespace asio = boost::asio;
using boost::beast::websocket::close_code;

/// The interval at which the subscribers of a silent host check whether the host sends again.
constexpr std::chrono::milliseconds kSilence{20};

class StreamSession final : public WebsocketSession {
 public:
  StreamSession(StreamHost& host, std::unique_ptr<Websocket> websocket,
                std::optional<std::int64_t> cursor)
      : WebsocketSession(host.sessions, std::move(websocket)), host_(host) {
    progress_.cursor = cursor;
  }

 private:
  const StreamBehaviour& behaviour() const { return host_.behaviour; }

  asio::awaitable<void> serve() override {
    host_.open.emplace(number(), &progress_);
    co_await serve_from(progress_.cursor);
    host_.open.erase(number());
  }

  asio::awaitable<void> serve_from(std::optional<std::int64_t> cursor) {
    auto& source = host_.source;
    const auto position = cursor ? source.position_after(*cursor, behaviour().inclusive)
                                 : std::clamp(behaviour().live_from, source.begin(), source.end());
    std::optional<std::int64_t> first_seq;
    for (auto i = position; i < source.end() && !first_seq; ++i) first_seq = source.seq(i);
    log("connect", {{"cursor", cursor ? Json(std::to_string(*cursor)) : Json(nullptr)},
                    {"first_seq", or_null(first_seq)}});
    if (cursor && behaviour().future_cursor_error && *cursor > source.last_seq().value_or(0)) {
      const std::string name = "FutureCursor";
      const std::string message = "Cursor in the future.";
      co_await fail(name, message);
    } else {
      const auto oldest = source.first_seq();
      if (cursor && oldest && *cursor + 1 < *oldest && behaviour().outdated_cursor_info) {
        co_await send_info();
      }
      co_await send_from(position);
    }
    leave("client");
    log("disconnect",
        {{"why", why()}, {"frames", progress_.sent}, {"last_seq", or_null(progress_.last_seq)}});
  }

  asio::awaitable<void> send_from(std::uint64_t position) {
    auto& source = host_.source;
    const auto start = SteadyClock::now();
    std::size_t paced = 0;
    bool caught_up = false;
    while (!gone()) {
      if (host_.state == StreamState::silent) {
        const auto later = SteadyClock::now() + kSilence;
        co_await pause_until(later);
        continue;
      }
      if (position >= source.end()) {
        if (!caught_up) {
          log("caught_up", {{"frames", progress_.sent}, {"last_seq", or_null(progress_.last_seq)}});
        }
        caught_up = true;
        if (source.grows()) {
          co_await growth_past(position);
        } else if (behaviour().close_at_end) {
          const std::string words = "end of the capture";
          co_await close(close_code::normal, words);
        } else {
          co_await pause_until(SteadyClock::time_point::max());
        }
        continue;
      }
      bool corrupt = false;
      if (position >= source.begin()) {
        const auto seq = source.seq(position);
        corrupt = co_await inject_at(position + 1, seq);
      }
      if (gone()) co_return;
      if (behaviour().rate > 0) {
        const std::chrono::duration<double> offset(static_cast<double>(paced++) / behaviour().rate);
        const auto due = start + std::chrono::duration_cast<SteadyClock::duration>(offset);
        co_await pause_until(due);
      }
      if (gone()) co_return;
      if (position < source.begin()) {
        const std::string name = "ConsumerTooSlow";
        const std::string message = "what comes next is no longer kept";
        co_await fail(name, message);
        co_return;
      }
      const auto frame = source.frame(position);
      const auto seq = source.seq(position);
      if (corrupt) {
        const auto damaged = corrupted(*frame);
        co_await send(Websocket::Kind::binary, damaged);
      } else {
        co_await send(Websocket::Kind::binary, *frame);
      }
      if (gone()) co_return;
      ++progress_.sent;
      if (seq) progress_.last_seq = seq;
      ++position;
    }
  }

  asio::awaitable<void> send_info() override {
    const auto frame = info_frame("OutdatedCursor", "what the cursor asks for is no longer kept");
    co_await send(Websocket::Kind::binary, frame);
  }

  asio::awaitable<void> fail(const std::string& name, const std::string& message) override {
    const auto frame = error_frame(name, message);
    co_await send(Websocket::Kind::binary, frame);
    co_await close(close_code::policy_error, name);
  }

  /// Waits until the source has a frame at `position`, or until the connection ends.
  asio::awaitable<void> growth_past(std::uint64_t position) {
    auto& source = host_.source;
    while (!gone() && source.end() <= position) {
      const auto waiting = source.when_past(position, [this] { wake(); });
      co_await wait();
    }
  }

  StreamHost& host_;
  StreamProgress progress_;
};

}  // namespace

WebsocketOffer offer_stream(StreamHost& host) {
  WebsocketOffer offer;
  offer.refuse = [&host](const Request& request) -> std::optional<Response> {
    if (host.state == StreamState::down) return error_response(503, "Down", "as it was told");
    const auto cursor = cursor_of(request);
    return cursor ? std::nullopt : std::optional(cursor.error());
  };
  offer.open = [&host](const Request& request, std::unique_ptr<Websocket> websocket) {
    return std::make_shared<StreamSession>(host, std::move(websocket), *cursor_of(request));
  };
  return offer;
}

}  // namespace skua::sim
