#include "accounts/tail_pace.hpp"

#include <algorithm>

#include "transport/rate_limit.hpp"

namespace skua::accounts {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kFirstWait{1};
constexpr seconds kLongestOwnWait{60};
/// After that many the longest wait is reached.
constexpr std::uint64_t kDoublings = 6;

}  // namespace

milliseconds pause_after_page(const transport::HttpAnswer& answer, bool is_end, Timestamp now) {
  const milliseconds usual = is_end ? kTailInterval : kTailCatchUp;
  const auto stated = transport::stated_rate_limit(answer, now);
  if (!stated || !stated->limit || stated->remaining >= *stated->limit / 2) return usual;
  const auto until_reset = std::min<seconds>(stated->until_reset, kLongestTailWait);
  return std::max<milliseconds>(usual, until_reset);
}

milliseconds pause_after_failure(std::uint64_t failures, const transport::HttpAnswer* answer,
                                 Timestamp now) {
  const auto own = std::min(kLongestOwnWait, kFirstWait * (1 << std::min(failures, kDoublings)));
  if (answer == nullptr) return own;
  const auto asked = transport::asked_wait(*answer, now).value_or(seconds(0));
  return std::max(own, std::min<seconds>(asked, kLongestTailWait));
}

}  // namespace skua::accounts
