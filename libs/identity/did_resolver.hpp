#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "base/time.hpp"
#include "identity/account.hpp"
#include "transport/http_client.hpp"
#include "transport/rate_limit.hpp"

namespace skua::identity {

struct DidResolverOptions {
  /// The PLC directory, an http or https URL. Whoever runs this names it, so that it may be
  /// private.
  std::string plc_url = "https://plc.directory";
  /// Lets did:web name `localhost%3A<port>`, asked over plain http. Other private hosts are the
  /// HTTP client's to refuse.
  bool allow_private_hosts = false;
  /// Hosts of did:web are asked on it; another than 443 is for tests.
  std::uint16_t https_port = 443;
};

/// Where a DID's document is: `<plc>/<did>` for did:plc, `https://<host>/.well-known/did.json` for
/// did:web (atproto.com/specs/did: a host alone, without path; a port for localhost only). Errors:
/// did_syntax, did_method, transport's address_not_public for localhost.
Result<std::string> document_url(std::string_view did, const DidResolverOptions& options);

/// Why the document of a DID was not obtained, for people. A failure of the network names the host
/// that was asked and, for a did:plc, the flag that names another directory.
std::string failure_text(std::string_view did, const ErrorCode& error,
                         const DidResolverOptions& options);

/// The answer of a document's host.
struct DidAnswer {
  /// Or an error of errc, or of transport; `is_server_failure` tells whose it is.
  Result<Account> account;
  /// How long it asks us to wait before the next request, if it does.
  std::optional<std::chrono::seconds> wait = std::nullopt;
  std::optional<transport::RateLimit> rate_limit = std::nullopt;
};

/// Fetches DID documents, one request each; remembers nothing. Owned by whoever needs documents;
/// any thread. The HTTP clients and the clock must outlive it, and it the requests under way: stop
/// the clients first.
class DidResolver {
 public:
  using Callback = std::function<void(DidAnswer)>;

  DidResolver(transport::HttpClient& http, DidResolverOptions options,
              const Clock& clock = system_clock())
      : DidResolver(http, http, std::move(options), clock) {}
  /// `directory` asks the PLC directory, `hosts` those of did:web.
  DidResolver(transport::HttpClient& directory, transport::HttpClient& hosts,
              DidResolverOptions options, const Clock& clock);

  /// Whether a DID can be asked for at all; no request is made. Errors: those of `document_url`.
  Result<void> can_resolve(std::string_view did) const;

  /// `done` is called once, on the HTTP client's thread, or here when nothing can be asked.
  void resolve(const std::string& did, Callback done) const;

  /// Waits for it. Any thread but the HTTP client's.
  DidAnswer resolve(const std::string& did) const;

 private:
  DidAnswer judge(const std::string& did, const Result<transport::HttpAnswer>& answer) const;
  Result<transport::HttpRequest> request(const std::string& did) const;

  transport::HttpClient& client_for(const std::string& did) const;

  transport::HttpClient& directory_;
  transport::HttpClient& hosts_;
  const DidResolverOptions options_;
  const Clock& clock_;
};

}  // namespace skua::identity
