#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "router.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// The HTTP routes of a PDS besides subscribeRepos: com.atproto.sync.{getRepo, listRepos,
/// getRepoStatus, getLatestCommit}, com.atproto.identity.resolveHandle, /.well-known/atproto-did by
/// the Host header, and the health check. `host` is its number in the network and `url` its address
/// there. An account that has moved away is deactivated here; a deleted one is unknown. A page of
/// listRepos has at most `most` entries. The network must outlive the router.
Router pds_routes(const Network& network, std::size_t host, const std::string& url,
                  std::int64_t most);

}  // namespace skua::sim
