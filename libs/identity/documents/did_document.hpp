#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "atproto/signing.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/http_client.hpp"

namespace skua::documents {

/// An account as its DID document describes it (atproto.com/specs/did): the only value of this
/// kind. Documents are read into it, caches keep it, and verification and downloads use it. An
/// account has a repository (`key` and `pds`), or labels others (`label_key`), or both.
struct Account {
  std::string did = {};
  /// The key of the verification method `#atproto`, which signs the commits of the repository. It
  /// is a point of its curve. Nothing: a labeler has none, or none that can be used.
  std::optional<atproto::Multikey> key = {};
  /// The origin of the account's host, `https://host[:port]`, without a slash at the end; empty:
  /// not known.
  std::string pds = {};
  /// The first handle in alsoKnownAs, in lower case; empty: none. Claimed, not verified.
  std::string handle = {};
  /// The key of the verification method `#atproto_label`, which signs labels; nothing: there is
  /// none, or none that can be used.
  std::optional<atproto::Multikey> label_key = {};
  /// The origin of its labeler, the service `#atproto_labeler`; empty: it has none, or none that
  /// can be used. Not stored: known only of a document that was just fetched.
  std::string labeler = {};
  /// When the document was fetched; the epoch: it comes from a file.
  Timestamp fetched_at = {};

  friend bool operator==(const Account&, const Account&) = default;

  /// False also for a document from the future: a wrong clock wrote its time, and its age is not
  /// known.
  bool is_younger_than(std::chrono::seconds max_age, Timestamp now) const {
    return fetched_at <= now && now - fetched_at < max_age;
  }
};

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

}  // namespace skua::documents
