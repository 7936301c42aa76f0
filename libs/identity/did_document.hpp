#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "atproto/multikey.hpp"
#include "atproto/signing.hpp"
#include "base/result.hpp"

namespace skua::identity {

/// What atproto reads of a DID document (atproto.com/specs/did).
struct DidDocument {
  std::string did;
  /// Of the verification method `#atproto`: commits of the repository are signed with it.
  atproto::VerifyingKey key;
  /// The origin of the account's PDS, `https://host[:port]`, without a slash at the end.
  std::string pds;
  /// The first handle in alsoKnownAs, in lower case; empty when there is none. Claimed, not
  /// checked.
  std::string handle;
  /// Of the verification method `#atproto_label`: a labeler's labels are signed with it; nothing:
  /// there is none, or none that can be used.
  std::optional<atproto::Multikey> label_key = {};
};

/// Reads a document's JSON text as that of `did`. Where several entries of one name stand, the
/// first counts. Unknown fields are ignored. Errors: errc::document_...
Result<DidDocument> parse_did_document(std::string_view json, std::string_view did);

/// The origin of a PDS as `DidDocument::pds` has it, from a URL. Error: document_pds.
Result<std::string> pds_origin(std::string_view url);

/// The handle that `at://handle` names, in lower case; empty: none.
std::string handle_of_alias(std::string_view alias);

}  // namespace skua::identity
