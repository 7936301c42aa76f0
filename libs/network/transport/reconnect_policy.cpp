#include "transport/reconnect_policy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace skua::transport {

ReconnectPolicy::ReconnectPolicy(const Options& options, std::function<double()> random)
    : options_(options),
      random_(std::move(random)),
      ceiling_(std::min(options.first, options.longest)) {}

void ReconnectPolicy::connected(TimePoint now) {
  connected_at_ = now;
  last_message_ = now;
}

ReconnectPolicy::Duration ReconnectPolicy::failed() {
  if (last_message_ - connected_at_ >= options_.healthy_after && last_message_ != connected_at_) {
    ceiling_ = std::min(options_.first, options_.longest);
  }
  // Each connection counts once, so attempts that fail after it must not count it again.
  last_message_ = connected_at_;
  const auto delay = random_() * static_cast<double>(ceiling_.count());
  ceiling_ = std::min(ceiling_ * 2, options_.longest);
  return Duration(std::llround(delay));
}

}  // namespace skua::transport
