#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"
#include "serve/http_message.hpp"
#include "world/network.hpp"

namespace skua::sim {

// Repositories as a faulty host sends them. The first block, the commit, is not counted: the result
// is always a CAR with the right root.

/// The number of blocks that can be damaged.
std::size_t count_blocks(ByteView car);
/// The CAR without one of them.
Bytes without_block(ByteView car, std::size_t index);
/// The CAR with the byte in the middle of one of them changed.
Bytes with_bad_block(ByteView car, std::size_t index);

// Answers about repositories (com.atproto.sync.*) that a relay and a PDS share. Each is given the
// status of the account at that host: a PDS that an account has left calls it deactivated.

/// The state of an account at a host.
struct Standing {
  AccountView account;
  AccountStatus status = AccountStatus::active;
};
/// Nothing: the host does not know this DID.
using StandingOf = std::function<std::optional<Standing>(std::string_view did)>;

/// RepoNotFound, RepoTakendown, RepoSuspended, RepoDeactivated: HTTP 400, permanent.
Response repo_error(std::string_view did, AccountStatus status);
Response repo_not_found(std::string_view did);

Response repo_status(const Request& request, const StandingOf& standing_of);
Response latest_commit(const Request& request, const StandingOf& standing_of);
/// Pages by DID with at most `most` entries; accounts without a repository are skipped.
Response list_repos(const Request& request, const Network& network, const StandingOf& standing_of,
                    std::int64_t most);

}  // namespace skua::sim
