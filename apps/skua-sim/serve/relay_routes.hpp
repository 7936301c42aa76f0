#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "router.hpp"
#include "world/message_log.hpp"
#include "world/network.hpp"

namespace skua::sim {

/// A PDS as the relay knows it.
struct KnownHost {
  std::string hostname;  // 127.0.0.1:2001
  std::string url;       // http://127.0.0.1:2001
  const MessageLog& log;
};

/// The HTTP routes of the relay besides subscribeRepos: com.atproto.sync.{listHosts, listRepos,
/// listReposByCollection, getRepo, getRepoStatus, getLatestCommit} and the health check. It stores
/// no repositories: getRepo redirects to the PDS. A page has at most `most` entries. Objects that
/// are passed by reference must outlive the router.
Router relay_routes(const Network& network, const std::vector<KnownHost>& hosts, std::int64_t most);

}  // namespace skua::sim
