#pragma once

#include <memory>

#include "http_server/exchange.hpp"
#include "streams/change_reader.hpp"

namespace skua::streams {

/// Answers a request for a stream with an error, and counts it. Any thread.
inline void refuse(FeedMetrics& metrics, http_server::Exchange& exchange, const FeedError& error) {
  count_error(metrics, error.error);
  exchange.answer(http_server::error_response(error.status, error.error, error.message));
}

/// Answers `GET /changes`: server-sent events, or a websocket with the same JSON (docs/feeds.md).
/// On the server's thread; the reader outlives the exchange.
void serve_changes(ChangeReader& reader, const std::shared_ptr<http_server::Exchange>& exchange);

/// Answers `GET /subscribe`: a websocket in the form of Jetstream v1, without compression
/// (docs/feeds.md). On the server's thread; the reader outlives the exchange.
void serve_jetstream(ChangeReader& reader, const std::shared_ptr<http_server::Exchange>& exchange);

}  // namespace skua::streams
