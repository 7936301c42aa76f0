#pragma once

#include <string_view>

#include "serve/stream_host.hpp"
#include "serve/websocket_session.hpp"

namespace skua::sim {

inline constexpr std::string_view kStreamPath = "/xrpc/com.atproto.sync.subscribeRepos";

/// subscribeRepos (atproto.com/specs/event-stream) as a websocket. `host` must outlive it.
WebsocketOffer offer_stream(StreamHost& host);

}  // namespace skua::sim
