#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "transport/stream_client.hpp"

namespace skua::transport {

/// The options of a client for a relay's or PDS's subscribeRepos (atproto.com/specs/event-stream).
/// `cursor` is called before each attempt, on the client's thread, and returns the position to
/// continue from; nothing: live. It must not throw.
StreamClientOptions relay_stream(Endpoint relay,
                                 std::function<std::optional<std::int64_t>()> cursor);

}  // namespace skua::transport
