#pragma once

#include <string_view>

namespace skua::atproto {

/// Whether an account with this hosting status is hidden (atproto.com/specs/account, "Account
/// Hosting Status"). `desynchronized` and `throttled` describe the service that sends them: the
/// account can be inactive there, but nobody decided to hide it.
constexpr bool hides(bool active, std::string_view status) {
  return !active && status != "desynchronized" && status != "throttled";
}

}  // namespace skua::atproto
