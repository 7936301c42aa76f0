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
  bad_web_did,     // not of a domain name
  bad_did_method,  // neither did:plc nor did:web
  bad_handle,
  bad_nsid,
  bad_record_key,
  bad_at_uri,
  bad_account_name,  // what a person typed names no account
  bad_repo_path,
  bad_key,
  bad_signature_form,  // not 64 bytes
  high_s_signature,    // the S value stands in the upper half: malleable
  wrong_signature,     // well formed, but of another key or another message
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::atproto

template <>
struct boost::system::is_error_code_enum<skua::atproto::errc> : std::true_type {};
