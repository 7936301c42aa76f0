#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace skua::sim {

// Frames of an event stream (atproto.com/specs/event-stream), as far as a server that only passes
// them on has to know them.

/// The `seq` of a frame's body. Nothing: it has none (as #info), or the frame cannot be read.
std::optional<std::int64_t> read_seq(ByteView frame);

/// The frame with the byte in the middle of its `blocks` changed, in the middle of the frame where
/// it has none.
Bytes corrupted(ByteView frame);

/// `{op: -1}` and `{error, message}`: the last frame of a connection that the server ends.
Bytes error_frame(std::string_view name, std::string_view message);

/// `{op: 1, t: "#info"}` and `{name, message}`.
Bytes info_frame(std::string_view name, std::string_view message);

}  // namespace skua::sim
