#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skua::sim {

/// What a request's target asks for.
struct StreamRequest {
  enum class Kind : std::uint8_t { SubscribeRepos, Health, Unknown, BadCursor };
  Kind kind = Kind::Unknown;
  std::optional<std::int64_t> cursor;
};

/// Reads a target such as `/xrpc/com.atproto.sync.subscribeRepos?cursor=12`.
StreamRequest parse_target(std::string_view target);

}  // namespace skua::sim
