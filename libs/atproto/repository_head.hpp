#pragma once

#include "atproto/cid.hpp"
#include "atproto/tid.hpp"

namespace skua::atproto {

/// The newest known revision of a repository, and the root of its tree (`data` of the commit) at
/// that revision.
struct RepositoryHead {
  Tid rev;
  Cid data;
  friend bool operator==(const RepositoryHead&, const RepositoryHead&) = default;
};

}  // namespace skua::atproto
