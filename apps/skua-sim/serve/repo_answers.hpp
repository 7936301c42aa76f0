#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "request.hpp"
#include "response.hpp"
#include "world/network.hpp"

namespace skua::sim {

// What a relay and a PDS answer alike about repositories (com.atproto.sync.*). Each is told how
// the account stands there: a PDS that an account has left calls it deactivated.

/// How an account stands at a host.
struct Standing {
  AccountView account;
  AccountStatus status = AccountStatus::active;
};
/// Nothing: the host does not know that DID.
using StandingOf = std::function<std::optional<Standing>(std::string_view did)>;

/// RepoNotFound, RepoTakendown, RepoSuspended, RepoDeactivated: HTTP 400, final.
Response repo_error(std::string_view did, AccountStatus status);
Response repo_not_found(std::string_view did);

Response repo_status(const Request& request, const StandingOf& standing_of);
Response latest_commit(const Request& request, const StandingOf& standing_of);
/// Pages by DID, of `most` at most; accounts without a repository are left out.
Response list_repos(const Request& request, const Network& network, const StandingOf& standing_of,
                    std::int64_t most);

}  // namespace skua::sim
