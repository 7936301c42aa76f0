#include "identity/handle_check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "base/ascii.hpp"
#include "identity/errc.hpp"
#include "transport/errc.hpp"

namespace skua::identity {
namespace {

constexpr std::size_t kMaxDidBytes = 2048;
constexpr std::string_view kTxtPrefix = "did=";
/// Some editors write it before the text of a file.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Domains that no handle may have: they do not resolve, or they name hosts of a local network.
/// `.test` is permitted, because it is for development.
constexpr std::array<std::string_view, 8> kForbidden = {
    ".alt", ".arpa", ".example", ".internal", ".invalid", ".local", ".localhost", ".onion"};

Result<std::string> checked(std::string_view handle) {
  if (!atproto::is_handle(handle)) return errc::handle_syntax;
  auto lower = ascii_lower(handle);
  const bool forbidden = std::any_of(kForbidden.begin(), kForbidden.end(),
                                     [&](auto domain) { return lower.ends_with(domain); });
  if (forbidden) return errc::handle_syntax;
  return lower;
}

}  // namespace

HandleCheck::HandleCheck(transport::HttpClient& http, TxtLookup txt, std::uint16_t https_port)
    : http_(http), txt_(std::move(txt)), https_port_(https_port) {}

Result<std::string> HandleCheck::resolve(std::string_view handle) const {
  const auto name = checked(handle);
  if (!name) return name.error();
  auto by_dns = ask_dns(*name);
  // An answer of DNS counts even if it is not valid, because the owner of the name wrote it.
  if (by_dns || by_dns.error() == errc::handle_ambiguous) return by_dns;
  auto by_host = ask_host(*name);
  // If the host names no DID either, the error of DNS is the reason.
  const bool dns_decides =
      !by_host && (by_dns.error() == errc::dns_failed || by_host.error() == errc::handle_not_found);
  return dns_decides ? by_dns : by_host;
}

Result<std::string> HandleCheck::ask_dns(const std::string& handle) const {
  const auto texts = txt_("_atproto." + handle);
  if (!texts) return texts.error();
  std::string did;
  bool has_nonsense = false;
  for (std::string_view text : *texts) {
    if (!text.starts_with(kTxtPrefix)) continue;
    text.remove_prefix(kTxtPrefix.size());
    if (!atproto::is_did(text)) {
      has_nonsense = true;
    } else if (did.empty() || did == text) {
      did = text;
    } else {
      return errc::handle_ambiguous;
    }
  }
  // If there is a valid record, the others do not count.
  if (!did.empty()) return did;
  return has_nonsense ? errc::handle_ambiguous : errc::handle_not_found;
}

Result<std::string> HandleCheck::ask_host(const std::string& handle) const {
  transport::HttpRequest request;
  request.url = fmt::format("https://{}:{}/.well-known/atproto-did", handle, https_port_);
  request.max_body_bytes = kMaxDidBytes + 64;
  const auto answer = http_.send(std::move(request));
  if (!answer) {
    // A page of a host that answers everything is longer than a DID.
    if (answer.error() == transport::errc::host_not_found ||
        answer.error() == transport::errc::http_too_large) {
      return errc::handle_not_found;
    }
    return answer.error();
  }
  if (answer->status == 429) return errc::rate_limited;
  if (answer->status >= 500) return errc::server_failed;
  if (answer->status != 200) return errc::handle_not_found;
  std::string_view body = answer->body;
  if (body.starts_with(kByteOrderMark)) body.remove_prefix(kByteOrderMark.size());
  const auto did = trimmed(body);
  // Hosts that answer everything with a page are no contradiction: they say nothing.
  if (!atproto::is_did(did)) return errc::handle_not_found;
  return std::string(did);
}

Result<void> HandleCheck::verify(std::string_view did, std::string_view handle) const {
  const auto found = resolve(handle);
  if (!found) return found.error();
  if (*found != did) return errc::handle_of_other;
  return {};
}

}  // namespace skua::identity
