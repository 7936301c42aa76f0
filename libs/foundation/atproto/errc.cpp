#include "atproto/errc.hpp"

#include <array>

#include "base/result.hpp"

namespace skua::atproto {
namespace {

constexpr auto kErrorTexts = std::to_array<ErrorText<errc>>({
    {errc::bad_cid, "not a CID that atproto allows (version 1, dag-cbor or raw, SHA-256)"},
    {errc::bad_tid, "not a TID"},
    {errc::bad_did, "not a DID"},
    {errc::bad_plc_did, "malformed: did:plc: is followed by 24 characters of a-z and 2-7"},
    {errc::bad_web_did, "malformed: did:web: is followed by a domain name"},
    {errc::bad_did_method, "not the DID of an account, which begins with did:plc: or did:web:"},
    {errc::bad_handle, "not a handle"},
    {errc::bad_nsid, "not an NSID"},
    {errc::bad_record_key, "not a record key"},
    {errc::bad_at_uri, "not an AT-URI"},
    {errc::bad_account_name, "not a DID, a handle, an at:// URI or a URL of bsky.app"},
    {errc::bad_repo_path, "not a repository path (collection/rkey)"},
    {errc::bad_key, "not a public or private key that atproto allows (K-256 or P-256)"},
    {errc::bad_signature_form, "a signature that is not 64 bytes of r and s"},
    {errc::high_s_signature, "a signature whose s value stands in the upper half of the range"},
    {errc::wrong_signature, "the signature is not this key's signature of this message"},
});

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const ErrorCategory<kErrorTexts> category("skua.atproto");
  return {static_cast<int>(e), category};
}

}  // namespace skua::atproto
