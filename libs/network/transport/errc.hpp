#pragma once

#include <boost/system/error_code.hpp>

namespace skua::transport {

/// Errors of addresses, capture files, HTTP requests and compressed messages.
enum class errc {
  /// The address is empty or has only blanks.
  url_empty = 1,
  /// The part before `://` is not ws, wss, http or https.
  url_scheme,
  /// The host is missing, has characters that are invalid in a host name, or is a malformed IP
  /// address.
  url_host,
  /// The text after the colon is not a number from 1 to 65535.
  url_port,
  /// The address contains `user:password@`.
  url_credentials,
  /// The path has a blank or control character, or the address has a `#fragment`.
  url_path,
  /// The query has `cursor=`, but the cursor is a separate setting.
  url_cursor,
  /// A frame's length in a capture is over the limit.
  capture_frame_too_large,
  /// The name does not exist (a permanent error).
  host_not_found,
  /// The name could not be looked up now (a temporary error).
  host_lookup_failed,
  /// The part before `://` is not http or https, or is missing.
  url_http_scheme,
  /// The name has only private addresses (address_guard.hpp), and the client may not connect to
  /// them.
  address_not_public,
  /// There is no TCP connection for a reason that no other error describes, such as a missing
  /// route.
  connect_failed,
  /// Nothing listens at the port.
  connect_refused,
  /// The look-up of the name, the connection or TLS took too long.
  connect_timed_out,
  /// TLS failed, or the certificate is not valid for the name.
  tls_failed,
  /// No trusted authority signed the certificate, or the certificate has expired.
  tls_untrusted,
  /// The whole request took too long.
  http_timed_out,
  /// The body arrived more slowly than the request allows.
  http_too_slow,
  /// The connection, or a compressed body, ended before the answer was complete.
  http_dropped,
  /// The answer is not HTTP, or the body of the answer cannot be decoded.
  http_malformed,
  /// The answer's body (or head) is over the limit.
  http_too_large,
  /// There were more redirects than allowed.
  http_too_many_redirects,
  /// The target of a redirect is not an http or https URL.
  http_bad_redirect,
  /// A redirect leads from https to http.
  http_downgrade,
  /// Too many requests are waiting already.
  http_busy,
  /// A request header has a line break.
  http_bad_header,
  /// The client was stopped.
  http_stopped,
  /// A large body cannot be written to its temporary file, because of a full disk or a missing
  /// permission.
  spool_failed,
  /// A message is not a zstd frame, or is corrupt or truncated.
  zstd_malformed,
  /// A message was compressed with a dictionary that differs from ours.
  zstd_other_dictionary,
  /// The decompressed message would be too long.
  zstd_too_large,
  /// A compressed body expands to much more than its size.
  http_inflated,
  /// The caller has no room for more of the body (HttpRequest::may_hold).
  http_no_room,
  /// A host name without a scheme has no dot.
  url_word,
  /// A message of a stream is over the limit of its size.
  message_too_large,
  /// JSON in a binary message of a stream is not UTF-8.
  message_not_utf8,
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::transport

template <>
struct boost::system::is_error_code_enum<skua::transport::errc> : std::true_type {};
