#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atproto/tid.hpp"
#include "base/result.hpp"

namespace skua::backfill {

// These functions read the lists of accounts and hosts: com.atproto.sync.listRepos,
// listReposByCollection and listHosts. They are pure, and any thread may call them. The servers of
// lists are not trusted: invalid DIDs and hosts are skipped and counted.

/// An account that has a repository.
struct ListedRepo {
  std::string did;
  /// The revision of the repository. listReposByCollection has none.
  std::optional<atproto::Tid> rev;
};

struct RepoPage {
  /// The cursor, which is empty on the last page.
  std::string cursor;
  /// The active accounts.
  std::vector<ListedRepo> repos;
  std::size_t inactive = 0;
  /// The number of entries that cannot be used.
  std::size_t refused = 0;

  std::size_t entries() const { return repos.size() + inactive + refused; }
};

struct ListedHost {
  /// The origin of the host, such as https://pds.example.
  std::string origin;
  /// A lower bound of the number of accounts, or nothing if the relay does not state it.
  std::optional<std::int64_t> accounts;
  /// The status: active, idle, offline, throttled, banned or another one. It is empty if the relay
  /// does not state it.
  std::string status;
};

struct HostPage {
  /// The cursor, which is empty on the last page.
  std::string cursor;
  std::vector<ListedHost> hosts;
  std::size_t refused = 0;

  std::size_t entries() const { return hosts.size() + refused; }
};

/// Returns the URL for a page of the maximum length at `origin` (a host or relay such as
/// https://pds.example). An empty cursor requests the first page.
std::string list_repos_url(std::string_view origin, std::string_view cursor);
std::string list_repos_by_collection_url(std::string_view origin, std::string_view collection,
                                         std::string_view cursor);
std::string list_hosts_url(std::string_view origin, std::string_view cursor);

/// Reads an answer of listRepos or listReposByCollection. The errors are list_form and
/// list_too_long.
Result<RepoPage> read_repo_page(std::string_view json);

/// Reads an answer of listHosts. `listed_host_origin` describes `allow_private_hosts`.
Result<HostPage> read_host_page(std::string_view json, bool allow_private_hosts);

/// Returns the origin of a host by its name on a list. It is https with a plain domain name,
/// without a port and not an IP address. `allow_private_hosts` also permits http with a loopback
/// name or address and an optional port, for tests and private networks. The error is host_name.
Result<std::string> listed_host_origin(std::string_view name, bool allow_private_hosts);

}  // namespace skua::backfill
