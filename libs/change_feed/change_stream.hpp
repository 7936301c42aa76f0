#pragma once

#include <memory>

#include "change_feed/change_reader.hpp"
#include "http_server/exchange.hpp"

namespace skua::change_feed {

/// Answers `GET /changes`: server-sent events, or a websocket with the same JSON (docs/feeds.md).
/// On the server's thread; the reader outlives the exchange.
void serve_changes(ChangeReader& reader, const std::shared_ptr<http_server::Exchange>& exchange);

}  // namespace skua::change_feed
