#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::accounts {

/// Between two requests when the directory had no further operations.
inline constexpr std::chrono::milliseconds kTailInterval{3'000};
/// While it has more.
inline constexpr std::chrono::milliseconds kTailCatchUp{1'000};
/// The longest wait, even if the directory asks for more.
inline constexpr std::chrono::minutes kLongestTailWait{5};

/// How long to wait after a page. If the directory states a limit of which less than half remains,
/// until it is renewed: the rest is for documents. Pure.
std::chrono::milliseconds pause_after_page(const transport::HttpAnswer& answer, bool is_end,
                                           Timestamp now);

/// How long to wait after failures in a row, of which there is at least one: from two seconds to a
/// minute, or as long as the directory asks. `answer`: null if there was none. Pure.
std::chrono::milliseconds pause_after_failure(std::uint64_t failures,
                                              const transport::HttpAnswer* answer, Timestamp now);

}  // namespace skua::accounts
