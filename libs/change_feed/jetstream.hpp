#pragma once

#include <memory>

#include "change_feed/change_reader.hpp"
#include "http_server/exchange.hpp"

namespace skua::change_feed {

/// Answers `GET /subscribe`: a websocket in the form of Jetstream v1, without compression
/// (docs/feeds.md). On the server's thread; the reader outlives the exchange.
void serve_jetstream(ChangeReader& reader, const std::shared_ptr<http_server::Exchange>& exchange);

}  // namespace skua::change_feed
