#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/router.hpp"
#include "simulation.hpp"
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

/// The HTTP routes of a PDS besides subscribeRepos: com.atproto.sync.{getRepo, listRepos,
/// getRepoStatus, getLatestCommit}, com.atproto.identity.resolveHandle, /.well-known/atproto-did by
/// the Host header, and the health check. `host` is its number in the network and `url` its address
/// there. An account that has moved away is deactivated here; a deleted one is unknown. A page of
/// listRepos has at most `most` entries. The network must outlive the router.
Router pds_routes(const Network& network, std::size_t host, const std::string& url,
                  std::int64_t most);

/// The PLC directory (web.plc.directory/spec/v0.1/did-plc): `/:did`, `/:did/log/audit`,
/// `/export?after=&count=` and the health check. It accepts no operations. The network must outlive
/// the router.
Router plc_routes(const Network& network);

inline constexpr std::string_view kLabelStreamPath = "/xrpc/com.atproto.label.subscribeLabels";

/// The HTTP routes of the labeler besides its stream: the health check.
Router labeler_routes();

/// Adds the control routes of the labeler for tests: POST /label, /labeler/rotate and GET /labels.
/// The simulation must have a labeler and outlive the router.
void add_labeler_control(Router& router, Simulation& simulation);

}  // namespace skua::sim
