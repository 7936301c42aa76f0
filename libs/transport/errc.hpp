#pragma once

#include <boost/system/error_code.hpp>

namespace skua::transport {

/// What can be wrong with an address a user gives or with a capture file.
enum class errc {
  /// Nothing but blanks.
  url_empty = 1,
  /// Something before `://` that is not ws, wss, http or https.
  url_scheme,
  /// No host, or characters that no host name has.
  url_host,
  /// No number from 1 to 65535 after the colon.
  url_port,
  /// `user:password@`.
  url_credentials,
  /// A blank or control character in the path, or a `#fragment`.
  url_path,
  /// `cursor=` in the query: the cursor has a place of its own.
  url_cursor,
  /// A frame's length in a capture is over the limit.
  capture_frame_too_large,
  /// The name is not known, for good.
  host_not_found,
  /// The name could not be looked up now.
  host_lookup_failed,
};

boost::system::error_code make_error_code(errc e);

}  // namespace skua::transport

template <>
struct boost::system::is_error_code_enum<skua::transport::errc> : std::true_type {};
