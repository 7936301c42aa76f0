#pragma once

#include <string_view>

#include "serve/stream_host.hpp"
#include "serve/websocket_session.hpp"

namespace skua::sim {

inline constexpr std::string_view kStreamPath = "/xrpc/com.atproto.sync.subscribeRepos";

/// Offers subscribeRepos (atproto.com/specs/event-stream) as a websocket. `host` must outlive the
/// offer.
WebsocketOffer offer_stream(StreamHost& host);

}  // namespace skua::sim
