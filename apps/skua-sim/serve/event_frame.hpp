#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::sim {

// Frames of an event stream (atproto.com/specs/event-stream), limited to the needs of a server that
// only forwards them.

/// The `seq` of a frame's body. Nothing: it has none (as #info), or the frame is unreadable.
std::optional<std::int64_t> read_seq(ByteView frame);

/// The frame with a changed byte in the middle of its `blocks`, or in the middle of the frame if it
/// has none.
Bytes corrupted(ByteView frame);

/// `{op: -1}` and `{error, message}`: the last frame of a connection that the server ends.
Bytes error_frame(std::string_view name, std::string_view message);

/// `{op: 1, t: "#info"}` and `{name, message}`.
Bytes info_frame(std::string_view name, std::string_view message);

}  // namespace skua::sim
