#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "identity/account.hpp"
#include "transport/http_client.hpp"

namespace skua::identity {

struct DocumentOptions {
  /// The PLC directory, an http or https URL. The operator names it, so it may be private.
  std::string plc_url = "https://plc.directory";
  /// Lets did:web name `localhost%3A<port>`, which is asked over plain http. The HTTP client
  /// refuses other private hosts.
  bool allow_private_hosts = false;
  /// The port of the hosts of did:web. Tests use another one.
  std::uint16_t https_port = 443;
};

/// Where a DID's document is: `<plc>/<did>` for did:plc, `https://<host>/.well-known/did.json` for
/// did:web (atproto.com/specs/did: a host alone, without path; a port for localhost only). Errors:
/// did_syntax, did_method, transport's address_not_public for localhost.
Result<std::string> document_url(std::string_view did, const DocumentOptions& options);

/// The request for the document. Errors: those of `document_url`.
Result<transport::HttpRequest> document_request(const std::string& did,
                                                const DocumentOptions& options);

/// The account of the answer to that request. Errors: those of transport, of `parse_did_document`,
/// did_not_found, did_tombstoned, rate_limited, server_failed, unforeseen.
Result<Account> read_document(const std::string& did, const Result<transport::HttpAnswer>& answer);

/// Why the document of a DID was not obtained, for people. A failure of the network names the host
/// that was asked and, for a did:plc, the flag that names another directory.
std::string failure_text(std::string_view did, const ErrorCode& error,
                         const DocumentOptions& options);

/// Reads the JSON text of the DID document of `did` (atproto.com/specs/did). Of several entries
/// with one id the first valid one counts: its type and value can be used, and its controller is
/// absent or the DID. A document needs a key and a host for a repository, or a key for labels.
/// Unknown fields are ignored. Errors: errc::document_...
Result<Account> parse_did_document(std::string_view json, std::string_view did);

/// The origin of a PDS as `Account::pds` has it, from a URL. Error: document_pds.
Result<std::string> pds_origin(std::string_view url);

/// The handle that `at://handle` names, in lower case; empty: none.
std::string handle_of_alias(std::string_view alias);

}  // namespace skua::identity
