#pragma once

#include <system_error>

#include <boost/system/error_code.hpp>

namespace skua::atproto {

/// Errors of identifiers, keys and signatures.
enum class errc {
  bad_cid = 1,
  bad_tid,
  bad_did,
  bad_plc_did,     // not 24 characters of base32
  bad_web_did,     // the DID has no domain name
  bad_did_method,  // neither did:plc nor did:web
  bad_handle,
  bad_nsid,
  bad_record_key,
  bad_at_uri,
  bad_account_name,  // the name that a person typed is not a name of an account
  bad_repo_path,
  bad_key,
  bad_signature_form,  // not 64 bytes
  high_s_signature,    // S is in the upper half of its range, so that the signature is malleable
  wrong_signature,     // a well-formed signature of another key or another message
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::atproto

template <>
struct boost::system::is_error_code_enum<skua::atproto::errc> : std::true_type {};
