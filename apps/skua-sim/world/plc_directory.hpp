#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include "atproto/cid.hpp"
#include "atproto/signing.hpp"
#include "base/bytes.hpp"
#include "base/time.hpp"

namespace skua::sim {

/// Returns lower-case base32 (RFC 4648) without padding.
std::string base32(ByteView bytes);

/// The directory's entry for a labeler.
struct LabelerService {
  std::string label_key;  // did:key
  std::string url;
};

/// An operation of the PLC directory (web.plc.directory/spec/v0.1/did-plc), which sets the identity
/// of an account from its time on.
struct PlcOperation {
  std::vector<std::string> rotation_keys;  // did:key
  std::string signing_key;                 // did:key
  std::string handle;
  std::string pds;  // URL
  std::optional<LabelerService> labeler;
  std::optional<atproto::Cid> prev;
  std::string signature;  // base64url without padding

  nlohmann::json to_json() const;
  /// Returns the CID of the signed operation. The next operation has this CID as `prev`.
  atproto::Cid cid() const;
};

/// Signs an operation with one of its rotation keys.
void sign_plc_operation(PlcOperation& operation, const atproto::SigningKey& rotation_key);

/// Returns the DID of a signed genesis operation: `did:plc:` and 24 characters of base32 of its
/// hash.
std::string plc_did(const PlcOperation& genesis);

/// Returns the DID document for an account's newest operation, in the directory's format.
nlohmann::ordered_json plc_document(const std::string& did, const PlcOperation& operation);

/// All operations of a PLC directory in the order of their creation. One thread.
class PlcDirectory {
 public:
  /// Signs and adds an account's next operation. Its `createdAt` is later than that of all earlier
  /// operations, because `/export` continues after a `createdAt`.
  void add(const std::string& did, PlcOperation operation, Timestamp now);

  /// Returns the account's newest operation; null if the account is unknown.
  const PlcOperation* newest(std::string_view did) const;

  /// The next two functions return the data of Network::plc_audit and Network::plc_export.
  nlohmann::ordered_json audit(std::string_view did) const;
  nlohmann::ordered_json exported(std::string_view after, std::size_t count) const;

 private:
  struct Entry {
    std::string did;
    std::string cid;
    Timestamp created;
    PlcOperation operation;
  };
  static nlohmann::ordered_json json_of(const Entry& entry);

  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_did_;
};

}  // namespace skua::sim
