#include "transport/rate_limit.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace skua::transport {
namespace {

/// The assumed limit if a host states only the remaining requests.
constexpr std::int64_t kAssumedLimit = 1000;

/// A whole number of seconds or requests. Larger numbers are reduced, because they would not fit
/// into a Timestamp.
std::optional<std::int64_t> whole_number(std::string_view text) {
  constexpr std::int64_t kLargest = 100'000'000'000;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return std::min(number, kLargest);
}

}  // namespace

std::optional<RateLimit> stated_rate_limit(const HttpAnswer& answer, Timestamp now) {
  const auto remaining = whole_number(answer.rate_limit_remaining);
  if (!remaining) return std::nullopt;
  // asked_wait parses both forms of a reset, but only if no request remains.
  HttpAnswer exhausted;
  exhausted.rate_limit_remaining = "0";
  exhausted.rate_limit_reset = answer.rate_limit_reset;
  const auto until_reset = asked_wait(exhausted, now);
  if (!until_reset) return std::nullopt;
  return RateLimit{whole_number(answer.rate_limit), *remaining, *until_reset};
}

void RateLimitSpacing::state(const RateLimit& stated, std::size_t under_way, std::size_t few,
                             std::chrono::seconds longest, Timestamp now) {
  const auto left =
      std::max<std::int64_t>(0, stated.remaining - static_cast<std::int64_t>(under_way));
  const auto little = std::max<std::int64_t>(stated.limit.value_or(kAssumedLimit) / 10,
                                             static_cast<std::int64_t>(few));
  const auto window = std::min(stated.until_reset, longest);
  until_ = left < little ? now + window : now;
  spacing_ = std::chrono::microseconds(window) / (left + 1);
}

}  // namespace skua::transport
