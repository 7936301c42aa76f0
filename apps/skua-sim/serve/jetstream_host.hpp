#pragma once

#include <optional>
#include <string_view>

#include "jetstream_log.hpp"
#include "router.hpp"
#include "websocket_session.hpp"
#include "zstd_dictionary.hpp"

namespace skua::sim {

inline constexpr std::string_view kJetstreamV1Path = "/subscribe";
inline constexpr std::string_view kJetstreamV2Path = "/xrpc/network.bsky.jetstream.subscribeEvents";

/// State that the subscribers of a Jetstream share, in both versions. Must outlive them.
struct JetstreamHost {
  JetstreamLog& log;
  /// Null: compression is refused.
  const ZstdDictionary* dictionary = nullptr;
  SessionHost sessions;
};

/// /subscribe of v1: cursor in microseconds, wantedCollections, wantedDids, maxMessageSizeBytes,
/// compress, requireHello, options_update.
WebsocketOffer offer_jetstream_v1(JetstreamHost& host);

/// network.bsky.jetstream.subscribeEvents of v2: framed as xrpc.v1.json; cursor is a seq, or
/// microseconds from 10^15 on; kinds, dids, collections, maxMessageSizeBytes, zstdDictionary.
WebsocketOffer offer_jetstream_v2(JetstreamHost& host);

/// The health check and getZstdDictionary.
Router jetstream_routes(const JetstreamHost& host);

}  // namespace skua::sim
