#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "http_server/exchange.hpp"
#include "streams/change_reader.hpp"
#include "streams/feed_stream.hpp"

namespace skua::streams {

/// Answers a request for a stream with an error, and counts it. Any thread.
inline void refuse(FeedMetrics& metrics, http_server::Exchange& exchange, const FeedError& error) {
  count_error(metrics, error.error);
  exchange.answer(http_server::error_response(error.status, error.error, error.message));
}

/// The values of the parameter `cursor` that are no positions.
inline constexpr std::string_view kLive = "live";
inline constexpr std::string_view kOldest = "oldest";

/// Returns where a client of `/changes` begins: a position, `live` or `oldest`. The header
/// Last-Event-ID replaces the cursor of the URL, because a client that reconnects sends it.
std::string change_cursor(const http_server::Request& request);

/// Returns the filter of a request for `/changes`, or why the request is refused.
std::variant<std::shared_ptr<const ChangeFilter>, FeedError> parse_change_request(
    const http_server::Request& request);

/// Returns the form in which `/changes` answers a request.
StreamForm change_form(const http_server::Request& request);

/// The stream of one client of `/changes`.
class ChangeStream final : public FeedStream {
 public:
  /// Returns the text for a position that the client has reached. Called on the server's thread.
  using PositionText = std::function<std::string(const Position&)>;
  /// Returns whether the change at a position must not be sent yet. Called on the server's thread.
  using Hold = std::function<bool(const Position&)>;

  ChangeStream(ChangeReader& reader, StreamForm form, const Opened& opened,
               std::shared_ptr<const ChangeFilter> filter, PositionText position_text,
               Hold hold = nullptr)
      : FeedStream(reader, form, opened, std::move(filter)),
        position_text_(std::move(position_text)),
        hold_(std::move(hold)) {}

  /// Whether all changes before this position have been processed.
  bool has_passed(const Position& end) const {
    return timeline() > end.timeline || next_position() >= end.pos;
  }

  std::optional<http_server::Message> heartbeat() override;

 private:
  std::optional<http_server::Message> message_of(const ChangeEvent& event,
                                                 std::int64_t time_us) const override;

  bool is_held(std::int64_t pos) const override { return hold_ && hold_({timeline(), pos}); }

  const PositionText position_text_;
  const Hold hold_;
};

/// Answers `GET /changes`: server-sent events, or a websocket with the same JSON (docs/feeds.md).
/// On the server's thread; the reader outlives the exchange.
void serve_changes(ChangeReader& reader, const std::shared_ptr<http_server::Exchange>& exchange);

/// Answers `GET /subscribe`: a websocket in the form of Jetstream v1, without compression
/// (docs/feeds.md). On the server's thread; the reader outlives the exchange.
void serve_jetstream(ChangeReader& reader, const std::shared_ptr<http_server::Exchange>& exchange);

}  // namespace skua::streams
