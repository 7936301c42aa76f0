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

// The lists of accounts and hosts: com.atproto.sync.listRepos, listReposByCollection, listHosts.
// Pure; any thread. Their servers are not trusted: invalid DIDs and hosts are skipped and counted.

/// An account that has a repository.
struct ListedRepo {
  std::string did;
  /// The revision of its repository; absent in listReposByCollection.
  std::optional<atproto::Tid> rev;
};

struct RepoPage {
  /// Empty on the last page.
  std::string cursor;
  /// The active accounts.
  std::vector<ListedRepo> repos;
  std::size_t inactive = 0;
  /// Entries that cannot be used.
  std::size_t refused = 0;

  std::size_t entries() const { return repos.size() + inactive + refused; }
};

struct ListedHost {
  /// Its origin, such as https://pds.example.
  std::string origin;
  /// A lower bound of the number of accounts; nothing if the relay does not state it.
  std::optional<std::int64_t> accounts;
  /// active, idle, offline, throttled, banned...; empty if the relay does not state it.
  std::string status;
};

struct HostPage {
  /// Empty on the last page.
  std::string cursor;
  std::vector<ListedHost> hosts;
  std::size_t refused = 0;

  std::size_t entries() const { return hosts.size() + refused; }
};

/// The URL for a page of the maximum length, at `origin` (a host or relay such as
/// https://pds.example). An empty cursor: the first page.
std::string list_repos_url(std::string_view origin, std::string_view cursor);
std::string list_repos_by_collection_url(std::string_view origin, std::string_view collection,
                                         std::string_view cursor);
std::string list_hosts_url(std::string_view origin, std::string_view cursor);

/// Reads an answer of listRepos or listReposByCollection. Errors: list_form, list_too_long.
Result<RepoPage> read_repo_page(std::string_view json);

/// Reads an answer of listHosts. `allow_private_hosts`: see `listed_host_origin`.
Result<HostPage> read_host_page(std::string_view json, bool allow_private_hosts);

/// The origin of a host by its name on a list: https with a plain domain name, without port and not
/// an IP address. With `allow_private_hosts` also http with a loopback name or address and an
/// optional port: for tests and private networks. Error: host_name.
Result<std::string> listed_host_origin(std::string_view name, bool allow_private_hosts);

}  // namespace skua::backfill
