#include "transport/errc.hpp"

#include <array>

#include "base/result.hpp"

namespace skua::transport {
namespace {

constexpr auto kErrorTexts = std::to_array<ErrorText<errc>>({
    {errc::url_empty,
     "the address is empty: give a host name or a URL such as wss://relay.example"},
    {errc::url_scheme, "the scheme must be ws, wss, http or https"},
    {errc::url_host, "the host name is missing or malformed"},
    {errc::url_port, "the port must be a number from 1 to 65535"},
    {errc::url_credentials, "a user name or password in the address is not supported"},
    {errc::url_path, "the path contains a blank, a control character or a #fragment"},
    {errc::url_cursor, "the address must not contain a cursor, which is a separate setting"},
    {errc::capture_frame_too_large,
     "a frame's length is over the limit: the file is damaged or is not a capture"},
    {errc::host_not_found, "host not found"},
    {errc::host_lookup_failed, "the host name cannot be looked up now"},
    {errc::url_http_scheme, "the URL must begin with http:// or https://"},
    {errc::address_not_public,
     "the host has only private addresses; --allow-private-hosts permits them"},
    {errc::connect_failed, "the host cannot be reached"},
    {errc::connect_refused, "connection refused: nothing listens at the port"},
    {errc::connect_timed_out, "the host does not answer"},
    {errc::tls_failed, "TLS failed, or the certificate is not valid for the host"},
    {errc::tls_untrusted,
     "the host's TLS certificate is not trusted; --ca-file FILE adds a certificate to trust"},
    {errc::http_timed_out, "the answer took too long"},
    {errc::http_too_slow, "the answer came too slowly"},
    {errc::http_dropped, "the host dropped the connection before the answer was complete"},
    {errc::http_malformed,
     "the host does not answer with HTTP, or with an encoding that cannot be read"},
    {errc::http_too_large, "the answer is over the size limit"},
    {errc::http_too_many_redirects, "too many redirects"},
    {errc::http_bad_redirect, "a redirect to an address that is not an http or https URL"},
    {errc::http_downgrade, "a redirect from https to http"},
    {errc::http_busy, "too many requests are waiting"},
    {errc::http_bad_header, "a header of the request is not one line"},
    {errc::http_stopped, "stopped"},
    {errc::spool_failed, "a large answer cannot be written to a temporary file: is the disk full?"},
    {errc::zstd_malformed, "the message is not a zstd frame, or is damaged"},
    {errc::zstd_other_dictionary,
     "the message was compressed with another zstd dictionary than the one that was given"},
    {errc::zstd_too_large, "the decompressed message is over the size limit"},
    {errc::http_inflated, "the answer decompresses to far more than an honest one"},
    {errc::http_no_room, "there is no room for more of the answer now"},
    {errc::url_word,
     "without a scheme such as wss://, a host name needs a dot, unless it is localhost"},
    {errc::message_too_large, "the message is over the size limit; this is its beginning"},
    {errc::message_not_utf8, "the message is not UTF-8"},
});

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const ErrorCategory<kErrorTexts> category("skua.transport");
  return {static_cast<int>(e), category};
}

}  // namespace skua::transport
