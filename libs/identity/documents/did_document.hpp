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

/// An account as its DID document describes it (atproto.com/specs/did). The program has no other
/// type for this: documents become an Account, caches keep it, and verification and downloads use
/// it. An account has a repository (`key` and `pds`), or labels others (`label_key`), or both.
struct Account {
  std::string did = {};
  /// The key of the verification method `#atproto`, which signs the commits of the repository. The
  /// key is a point of its curve. Nothing if a labeler has no such key, or no usable one.
  std::optional<atproto::Multikey> key = {};
  /// The origin of the account's host, `https://host[:port]`, without a slash at the end. Empty if
  /// the host is unknown.
  std::string pds = {};
  /// The first handle in alsoKnownAs, in lower case, or empty if there is none. The handle is
  /// claimed, not verified.
  std::string handle = {};
  /// The key of the verification method `#atproto_label`, which signs labels. Nothing if there is
  /// no such key, or no usable one.
  std::optional<atproto::Multikey> label_key = {};
  /// The origin of the account's labeler, the service `#atproto_labeler`. Empty if there is no such
  /// service, or no usable one. The origin is not stored, so only a document that was just fetched
  /// has it.
  std::string labeler = {};
  /// The time at which the document was fetched, or the epoch for a document from a file.
  Timestamp fetched_at = {};

  friend bool operator==(const Account&, const Account&) = default;

  /// Returns false also for a document from the future, because a wrong clock wrote its time, so
  /// its age is unknown.
  bool is_younger_than(std::chrono::seconds max_age, Timestamp now) const {
    return fetched_at <= now && now - fetched_at < max_age;
  }
};

struct DocumentOptions {
  /// The PLC directory, as an http or https URL. The operator names the directory, so its address
  /// may be private.
  std::string plc_url = "https://plc.directory";
  /// Permits did:web to name `localhost%3A<port>`, which is requested over plain http. The HTTP
  /// client refuses other private hosts.
  bool allow_private_hosts = false;
  /// The port of the hosts of did:web. Tests use another port.
  std::uint16_t https_port = 443;
};

/// Returns the address of a DID's document: `<plc>/<did>` for did:plc,
/// `https://<host>/.well-known/did.json` for did:web (atproto.com/specs/did permits a host without
/// a path, and a port only for localhost). Errors: did_syntax, did_method, transport's
/// address_not_public for localhost.
Result<std::string> document_url(std::string_view did, const DocumentOptions& options);

/// Returns the request for the document. Errors: those of `document_url`.
Result<transport::HttpRequest> document_request(const std::string& did,
                                                const DocumentOptions& options);

/// Reads the account from the answer to that request. Errors: those of transport, of
/// `parse_did_document`, did_not_found, did_tombstoned, rate_limited, server_failed, unforeseen.
Result<Account> read_document(const std::string& did, const Result<transport::HttpAnswer>& answer);

/// Returns the reason, for people, why the document of a DID was not obtained. For a failure of the
/// network the text names the host that was asked and, for a did:plc, the flag that names another
/// directory.
std::string failure_text(std::string_view did, const ErrorCode& error,
                         const DocumentOptions& options);

/// Reads the JSON text of the DID document of `did` (atproto.com/specs/did). Of several entries
/// with one id the first valid entry counts. An entry is valid if its type and value can be used,
/// and its controller is absent or the DID. A document needs a key and a host for a repository, or
/// a key for labels. Unknown fields are ignored. Errors: errc::document_...
Result<Account> parse_did_document(std::string_view json, std::string_view did);

/// Converts a URL to the origin of a PDS in the form of `Account::pds`. Error: document_pds.
Result<std::string> pds_origin(std::string_view url);

/// Returns the handle that `at://handle` names, in lower case, or an empty text if the alias names
/// none.
std::string handle_of_alias(std::string_view alias);

}  // namespace skua::documents
