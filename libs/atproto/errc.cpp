#include "atproto/errc.hpp"

#include <string>

namespace skua::atproto {
namespace {

class AtprotoCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua.atproto"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::bad_cid:
        return "not a CID that atproto allows (version 1, dag-cbor or raw, SHA-256)";
      case errc::bad_tid:
        return "not a TID";
      case errc::bad_did:
        return "not a DID";
      case errc::bad_plc_did:
        return "malformed: did:plc: is followed by 24 characters of a-z and 2-7";
      case errc::bad_web_did:
        return "malformed: did:web: is followed by a domain name";
      case errc::bad_did_method:
        return "not the DID of an account, which begins with did:plc: or did:web:";
      case errc::bad_handle:
        return "not a handle";
      case errc::bad_nsid:
        return "not an NSID";
      case errc::bad_record_key:
        return "not a record key";
      case errc::bad_at_uri:
        return "not an AT-URI";
      case errc::bad_account_name:
        return "not a DID, a handle, an at:// URI or a URL of bsky.app";
      case errc::bad_repo_path:
        return "not a repository path (collection/rkey)";
      case errc::bad_key:
        return "not a public or private key that atproto allows (K-256 or P-256)";
      case errc::bad_signature_form:
        return "a signature that is not 64 bytes of r and s";
      case errc::high_s_signature:
        return "a signature whose s value stands in the upper half of the range";
      case errc::wrong_signature:
        return "the signature is not this key's signature of this message";
    }
    return "unknown error";
  }
};

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const AtprotoCategory category;
  return {static_cast<int>(e), category};
}

}  // namespace skua::atproto
