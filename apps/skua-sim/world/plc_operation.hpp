#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "atproto/signing.hpp"

namespace skua::sim {

/// The directory's entry for a labeler.
struct LabelerService {
  std::string label_key;  // did:key
  std::string url;
};

/// An operation of the PLC directory (web.plc.directory/spec/v0.1/did-plc): the identity of an
/// account from now on.
struct PlcOperation {
  std::vector<std::string> rotation_keys;  // did:key
  std::string signing_key;                 // did:key
  std::string handle;
  std::string pds;  // URL
  std::optional<LabelerService> labeler;
  std::optional<atproto::Cid> prev;
  std::string signature;  // base64url without padding

  nlohmann::json to_json() const;
  /// The CID of the signed operation. The next operation has it as `prev`.
  atproto::Cid cid() const;
};

/// Signs with one of the rotation keys.
void sign_plc_operation(PlcOperation& operation, const atproto::SigningKey& rotation_key);

/// The DID of a signed genesis operation: `did:plc:` and 24 characters of base32 of its hash.
std::string plc_did(const PlcOperation& genesis);

/// The DID document for an account's newest operation, in the directory's format.
nlohmann::ordered_json plc_document(const std::string& did, const PlcOperation& operation);

}  // namespace skua::sim
