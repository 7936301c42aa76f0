#include "backfill/discovery.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "atproto/syntax.hpp"
#include "backfill/errc.hpp"
#include "backfill/query_text.hpp"
#include "base/ascii.hpp"
#include "transport/endpoint.hpp"

namespace skua::backfill {
namespace {

using nlohmann::json;

/// Ten times what the largest page may have: hosts that do not mind the limit are kept, madness is
/// not.
constexpr std::size_t kMostEntries = 20'000;
constexpr std::size_t kLongestCursor = 4096;
constexpr std::size_t kLongestStatus = 64;

std::string page_url(std::string_view origin, std::string_view method, std::string_view arguments,
                     std::string_view cursor) {
  auto url = fmt::format("{}/xrpc/com.atproto.sync.{}?{}", origin, method, arguments);
  if (!cursor.empty()) url += "&cursor=" + query_text(cursor);
  return url;
}

/// The text of a field; nothing when it is absent or something else.
const std::string* text_of(const json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

/// What lies deeper than any list is read past and not kept: nothing but brackets would take a
/// hundred times its length in memory.
json parse_flat(std::string_view text) {
  constexpr int kDeepest = 4;
  return json::parse(
      text, [](int depth, json::parse_event_t, const json&) { return depth <= kDeepest; }, false);
}

struct List {
  json body;
  std::string cursor;
  const json* entries = nullptr;
};

/// The page's list called `name`, and its cursor.
Result<void> open_list(std::string_view text, const char* name, List& list) {
  list.body = parse_flat(text);
  if (!list.body.is_object()) return errc::list_form;
  const auto entries = list.body.find(name);
  if (entries == list.body.end() || !entries->is_array()) return errc::list_form;
  if (entries->size() > kMostEntries) return errc::list_too_long;
  list.entries = &*entries;
  const auto cursor = list.body.find("cursor");
  if (cursor == list.body.end() || cursor->is_null()) return {};
  if (!cursor->is_string()) return errc::list_form;
  list.cursor = cursor->get<std::string>();
  // The cursor is to be stored as it is, and PostgreSQL's text has no NUL.
  if (list.cursor.size() > kLongestCursor || list.cursor.find('\0') != std::string::npos) {
    return errc::list_form;
  }
  return {};
}

void add_repo(const json& entry, RepoPage& page) {
  const auto* did = entry.is_object() ? text_of(entry, "did") : nullptr;
  if (did == nullptr || !atproto::is_did(*did)) {
    ++page.refused;
    return;
  }
  const auto active = entry.find("active");
  if (active != entry.end() && active->is_boolean() && !active->get<bool>()) {
    ++page.inactive;
    return;
  }
  ListedRepo repo;
  repo.did = *did;
  if (const auto* text = text_of(entry, "rev")) {
    if (const auto rev = atproto::Tid::parse(*text)) repo.rev = *rev;
  }
  page.repos.push_back(std::move(repo));
}

/// A status as the lexicon has them, known or not.
bool is_word(std::string_view text) {
  return text.size() <= kLongestStatus &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

void add_host(const json& entry, bool allow_private_hosts, HostPage& page) {
  const auto* name = entry.is_object() ? text_of(entry, "hostname") : nullptr;
  const auto origin =
      name == nullptr ? errc::host_name : listed_host_origin(*name, allow_private_hosts);
  if (!origin) {
    ++page.refused;
    return;
  }
  ListedHost host;
  host.origin = *origin;
  const auto accounts = entry.find("accountCount");
  if (accounts != entry.end() && accounts->is_number_unsigned()) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    host.accounts = static_cast<std::int64_t>(std::min(kMost, accounts->get<std::uint64_t>()));
  }
  const auto* status = text_of(entry, "status");
  if (status != nullptr && is_word(*status)) host.status = *status;
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
  List list;
  if (const auto opened = open_list(text, "repos", list); !opened) return opened.error();
  RepoPage page;
  page.cursor = std::move(list.cursor);
  page.repos.reserve(list.entries->size());
  for (const auto& entry : *list.entries) add_repo(entry, page);
  return page;
}

Result<HostPage> read_host_page(std::string_view text, bool allow_private_hosts) {
  List list;
  if (const auto opened = open_list(text, "hosts", list); !opened) return opened.error();
  HostPage page;
  page.cursor = std::move(list.cursor);
  page.hosts.reserve(list.entries->size());
  for (const auto& entry : *list.entries) add_host(entry, allow_private_hosts, page);
  return page;
}

Result<std::string> listed_host_origin(std::string_view name, bool allow_private_hosts) {
  // The syntax of a handle is that of a domain name, and no IP address has it.
  if (atproto::is_handle(name)) return "https://" + ascii_lower(name);
  if (!allow_private_hosts) return errc::host_name;
  const auto endpoint = transport::parse_http_url("http://" + std::string(name));
  if (!endpoint || !is_loopback(endpoint->host)) return errc::host_name;
  auto origin = endpoint->http_url();
  origin.pop_back();  // the slash that an origin does not have
  if (origin != "http://" + ascii_lower(name)) return errc::host_name;
  return origin;
}

}  // namespace skua::backfill
