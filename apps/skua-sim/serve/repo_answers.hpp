#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/bytes.hpp"
#include "serve/http_message.hpp"
#include "world/network.hpp"

namespace skua::sim {

// These functions return repositories as a faulty host sends them. The first block, the commit, is
// not counted, so the result is always a CAR with the right root.

/// Returns the number of blocks that can be damaged.
std::size_t count_blocks(ByteView car);
/// Returns the CAR without one block.
Bytes without_block(ByteView car, std::size_t index);
/// Returns the CAR with a changed byte in the middle of one block.
Bytes with_bad_block(ByteView car, std::size_t index);

// A relay and a PDS share these answers about repositories (com.atproto.sync.*). Each answer uses
// the status of the account at that host: a PDS that an account has left calls the account
// deactivated.

/// The state of an account at a host.
struct Standing {
  AccountView account;
  AccountStatus status = AccountStatus::active;
};
/// Returns nothing if the host does not know this DID.
using StandingOf = std::function<std::optional<Standing>(std::string_view did)>;

/// Returns RepoNotFound, RepoTakendown, RepoSuspended or RepoDeactivated with HTTP 400. These
/// errors are permanent.
Response repo_error(std::string_view did, AccountStatus status);
Response repo_not_found(std::string_view did);

Response repo_status(const Request& request, const StandingOf& standing_of);
Response latest_commit(const Request& request, const StandingOf& standing_of);
/// Returns the entry of an account in a list of repositories; null if the list omits the account.
using RepoEntryOf = std::function<nlohmann::ordered_json(const std::string& did)>;

/// Returns a page of a list of repositories by DID, with at most `most` entries. The cursor is the
/// last DID of the page; a page that ends the list has none. A client may ask for up to
/// `largest_limit` entries.
Response page_of_repos(const Request& request, const Network& network, std::int64_t largest_limit,
                       std::int64_t most, const RepoEntryOf& entry_of);

/// Returns a page of repositories by DID with at most `most` entries. Accounts without a repository
/// are skipped.
Response list_repos(const Request& request, const Network& network, const StandingOf& standing_of,
                    std::int64_t most);

}  // namespace skua::sim
