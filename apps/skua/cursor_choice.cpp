#include "cursor_choice.hpp"

#include <charconv>

#include <fmt/format.h>

namespace skua::cli {

sources::CursorChoice cursor_choice(const Found& found) {
  using Kind = sources::CursorChoice::Kind;
  if (found.value == "live") return {Kind::Live, 0};
  if (found.value == "oldest") return {Kind::Oldest, 0};
  // Sequence numbers go up to 2^53 (atproto.com/specs/event-stream).
  constexpr std::int64_t kHighest = std::int64_t{1} << 53;
  std::int64_t seq = 0;
  const char* end = found.value.data() + found.value.size();
  const auto [stop, error] = std::from_chars(found.value.data(), end, seq);
  if (error != std::errc{} || stop != end || seq < 0 || seq > kHighest) {
    throw UsageError(fmt::format("{}: '{}' is neither live nor oldest nor a sequence number",
                                 found.origin, found.value));
  }
  return {Kind::At, seq};
}

}  // namespace skua::cli
