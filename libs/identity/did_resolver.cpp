#include "identity/did_resolver.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "atproto/syntax.hpp"
#include "identity/did_document.hpp"
#include "identity/errc.hpp"
#include "identity/read_input.hpp"
#include "transport/endpoint.hpp"
#include "transport/errc.hpp"

namespace skua::identity {
namespace {

constexpr std::string_view kWeb = "did:web:";
constexpr std::string_view kLocalhost = "localhost";
constexpr std::size_t kMaxDocumentBytes = 256 * 1024;

/// `localhost:1234` of `localhost%3A1234`; empty when it is something else.
std::string local_host(std::string_view id) {
  if (id == kLocalhost) return std::string(id);
  if (!id.starts_with(kLocalhost)) return {};
  id.remove_prefix(kLocalhost.size());
  if (!id.starts_with("%3A") && !id.starts_with("%3a")) return {};
  const auto port = id.substr(3);
  const bool digits =
      !port.empty() && port.size() <= 5 &&
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::string(kLocalhost) + ":" + std::string(port) : std::string();
}

Result<std::string> web_url(std::string_view id, const DidResolverOptions& options) {
  constexpr std::string_view kPath = "/.well-known/did.json";
  // A colon begins a path, a percent sign a port: atproto has neither, save in development.
  if (const auto host = local_host(id); !host.empty()) {
    if (!options.allow_private_hosts) return transport::errc::address_not_public;
    return "http://" + host + std::string(kPath);
  }
  if (!atproto::is_handle(id)) return errc::did_method;  // the same as: a domain name
  const std::string port = options.https_port == 443 ? "" : fmt::format(":{}", options.https_port);
  return "https://" + std::string(id) + port + std::string(kPath);
}

Result<Account> document_of(const std::string& did, const transport::HttpAnswer& answer) {
  switch (answer.status) {
    case 200:
      return parse_did_document(answer.body, did);
    case 404:
      return errc::did_not_found;
    case 410:
      return errc::did_tombstoned;
    case 429:
      return errc::rate_limited;
    default:
      return errc::server_failed;
  }
}

}  // namespace

Result<std::string> document_url(std::string_view did, const DidResolverOptions& options) {
  if (!atproto::is_did(did)) return errc::did_syntax;
  if (atproto::is_plc_did(did)) {
    if (!atproto::check_account_did(did)) return errc::did_syntax;
    std::string_view directory = options.plc_url;
    while (directory.ends_with('/')) directory.remove_suffix(1);
    return std::string(directory) + "/" + std::string(did);
  }
  if (did.starts_with(kWeb)) {
    return web_url(did.substr(kWeb.size()), options);
  }
  return errc::did_method;
}

std::string failure_text(std::string_view did, const ErrorCode& error,
                         const DidResolverOptions& options) {
  const bool is_ours = error == errc::busy || error == errc::stopped;
  const bool is_of_network =
      is_server_failure(error) || error.category() == make_error_code(transport::errc{}).category();
  const auto url = document_url(did, options);
  if (is_ours || !is_of_network || !url) return error.message();
  if (atproto::is_plc_did(did)) {
    return fmt::format("the PLC directory {}: {}; --plc URL names another directory",
                       options.plc_url, error.message());
  }
  const auto host = transport::parse_http_url(*url);
  return fmt::format("{}: {}", host ? host->authority() : *url, error.message());
}

DidResolver::DidResolver(transport::HttpClient& directory, transport::HttpClient& hosts,
                         DidResolverOptions options, const Clock& clock)
    : directory_(directory), hosts_(hosts), options_(std::move(options)), clock_(clock) {}

transport::HttpClient& DidResolver::client_for(const std::string& did) const {
  return atproto::is_plc_did(did) ? directory_ : hosts_;
}

Result<void> DidResolver::can_resolve(std::string_view did) const {
  const auto url = document_url(did, options_);
  if (!url) return url.error();
  return {};
}

Result<transport::HttpRequest> DidResolver::request(const std::string& did) const {
  auto url = document_url(did, options_);
  if (!url) return url.error();
  transport::HttpRequest request;
  request.url = *std::move(url);
  request.max_body_bytes = kMaxDocumentBytes;
  if (atproto::is_plc_did(did)) request.origin = transport::HostOrigin::configured;
  return request;
}

void DidResolver::resolve(const std::string& did, Callback done) const {
  auto asked = request(did);
  if (!asked) {
    done({asked.error()});
    return;
  }
  client_for(did).get(*std::move(asked), [this, did, done = std::move(done)](
                                             const Result<transport::HttpAnswer>& answer) {
    done(judge(did, answer));
  });
}

DidAnswer DidResolver::resolve(const std::string& did) const {
  auto asked = request(did);
  if (!asked) return {asked.error()};
  return judge(did, client_for(did).get(*std::move(asked)));
}

DidAnswer DidResolver::judge(const std::string& did,
                             const Result<transport::HttpAnswer>& answer) const {
  if (!answer) return {answer.error()};
  const auto now = clock_.now();
  auto account = read_input<Result<Account>>(did, [&] { return document_of(did, *answer); });
  return {std::move(account), transport::asked_wait(*answer, now),
          transport::stated_rate_limit(*answer, now)};
}

}  // namespace skua::identity
