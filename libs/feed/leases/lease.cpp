#include "feed/leases/lease.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace skua::feed {
namespace {

/// In the order of FailureCause.
constexpr std::array<std::string_view, 10> kCauses{
    "change", "unreachable", "name", "tls", "slow", "refused", "address", "busy", "tables", "lock"};

}  // namespace

std::string_view to_string(FailureCause cause) {
  return kCauses.at(static_cast<std::size_t>(cause));
}

FailureCause failure_cause(std::string_view text) {
  const auto found = std::ranges::find(kCauses, text);
  return found == kCauses.end() ? FailureCause::Change
                                : static_cast<FailureCause>(found - kCauses.begin());
}

}  // namespace skua::feed
