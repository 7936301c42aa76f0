#include "backfill/discovery/discovery.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "atproto/repository_state.hpp"
#include "atproto/syntax.hpp"
#include "backfill/did_arguments.hpp"
#include "backfill/discovery/listing.hpp"
#include "backfill/errc.hpp"
#include "base/text.hpp"
#include "transport/endpoint.hpp"

namespace skua::backfill {

namespace {

using impl::ListEntry;

constexpr std::size_t kLongestStatus = 64;

std::string page_url(std::string_view origin, std::string_view method, std::string_view arguments,
                     std::string_view cursor) {
  auto url = fmt::format("{}/xrpc/com.atproto.sync.{}?{}", origin, method, arguments);
  if (!cursor.empty()) url += "&cursor=" + query_text(cursor);
  return url;
}

void add_repo(const ListEntry& entry, RepoPage& page) {
  if (!atproto::is_did(entry.did)) {
    ++page.refused;
    return;
  }
  if (atproto::hides(entry.active.value_or(true), entry.status)) {
    ++page.inactive;
    return;
  }
  ListedRepo repo;
  repo.did = entry.did;
  if (const auto rev = atproto::Tid::parse(entry.rev)) repo.rev = *rev;
  page.repos.push_back(std::move(repo));
}

/// Whether a text has the form of the statuses of the lexicon, known or unknown.
bool is_word(std::string_view text) {
  return text.size() <= kLongestStatus &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

void add_host(const ListEntry& entry, bool allow_private_hosts, HostPage& page) {
  auto origin = listed_host_origin(entry.hostname, allow_private_hosts);
  if (!origin) {
    ++page.refused;
    return;
  }
  ListedHost host;
  host.origin = *std::move(origin);
  if (entry.account_count) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    host.accounts = static_cast<std::int64_t>(std::min(kMost, *entry.account_count));
  }
  if (is_word(entry.status)) host.status = entry.status;
  page.hosts.push_back(std::move(host));
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "::1";
}

}  // namespace

std::string list_repos_url(std::string_view origin, std::string_view cursor) {
  return page_url(origin, "listRepos", "limit=1000", cursor);
}

std::string list_repos_by_collection_url(std::string_view origin, std::string_view collection,
                                         std::string_view cursor) {
  return page_url(origin, "listReposByCollection",
                  fmt::format("collection={}&limit=2000", query_text(collection)), cursor);
}

std::string list_hosts_url(std::string_view origin, std::string_view cursor) {
  return page_url(origin, "listHosts", "limit=1000", cursor);
}

Result<RepoPage> read_repo_page(std::string_view text) {
  RepoPage page;
  auto cursor = impl::read_list(text, "repos", [&](const auto& entry) { add_repo(entry, page); });
  if (!cursor) return cursor.error();
  page.cursor = *std::move(cursor);
  return page;
}

Result<HostPage> read_host_page(std::string_view text, bool allow_private_hosts) {
  HostPage page;
  auto cursor = impl::read_list(
      text, "hosts", [&](const auto& entry) { add_host(entry, allow_private_hosts, page); });
  if (!cursor) return cursor.error();
  page.cursor = *std::move(cursor);
  return page;
}

Result<std::string> listed_host_origin(std::string_view name, bool allow_private_hosts) {
  // A handle has the syntax of a domain name, and an IP address does not.
  if (atproto::is_handle(name)) return "https://" + ascii_lower(name);
  if (!allow_private_hosts) return errc::host_name;
  const auto endpoint = transport::parse_http_url("http://" + std::string(name));
  if (!endpoint || !is_loopback(endpoint->host)) return errc::host_name;
  auto origin = endpoint->http_url();
  origin.pop_back();  // removes the final slash, because an origin has none
  if (origin != "http://" + ascii_lower(name)) return errc::host_name;
  return origin;
}

}  // namespace skua::backfill
