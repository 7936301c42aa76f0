#pragma once

#include <string_view>

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"

namespace skua::atproto {

/// Whether an account with this hosting status is hidden (atproto.com/specs/account, "Account
/// Hosting Status"). `desynchronized` and `throttled` describe the service that sends the status:
/// the account can be inactive there although nobody decided to hide it.
constexpr bool hides(bool active, std::string_view status) {
  return !active && status != "desynchronized" && status != "throttled";
}

/// The newest known revision of a repository, and the root of its tree (`data` of the commit) at
/// that revision.
struct RepositoryHead {
  Tid rev;
  Cid data;
  friend bool operator==(const RepositoryHead&, const RepositoryHead&) = default;
};

}  // namespace skua::atproto
