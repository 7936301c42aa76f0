#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "event/frame_decoder.hpp"

namespace skua::event {

/// The largest sequence number; the smallest is 1
/// (atproto.com/specs/event-stream#sequence-numbers).
inline constexpr std::int64_t kMaxSeq = std::int64_t{1} << 53;

/// The meaning of a header's `op` and `t`. Unknown values are legal and make the message Unknown.
/// Error: `op` is missing, or a required `t`.
Result<MessageType> message_type(std::optional<std::int64_t> op, std::optional<std::string_view> t);

}  // namespace skua::event
