#include "transport/errc.hpp"

#include <string>

namespace skua::transport {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "skua.transport"; }

  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::url_empty:
        return "the address is empty: give a host name or a URL such as wss://relay.example";
      case errc::url_scheme:
        return "the scheme must be ws, wss, http or https";
      case errc::url_host:
        return "the host name is missing or malformed";
      case errc::url_word:
        return "without a scheme such as wss://, a host name needs a dot, unless it is localhost";
      case errc::url_port:
        return "the port must be a number from 1 to 65535";
      case errc::url_credentials:
        return "a user name or password in the address is not supported";
      case errc::url_path:
        return "the path contains a blank, a control character or a #fragment";
      case errc::url_cursor:
        return "the address must not contain a cursor, which is a separate setting";
      case errc::capture_frame_too_large:
        return "a frame's length is over the limit: the file is damaged or is not a capture";
      case errc::host_not_found:
        return "host not found";
      case errc::host_lookup_failed:
        return "the host name cannot be looked up now";
      case errc::url_http_scheme:
        return "the URL must begin with http:// or https://";
      case errc::address_not_public:
        return "the host has only private addresses; --allow-private-hosts permits them";
      case errc::connect_failed:
        return "the host cannot be reached";
      case errc::connect_refused:
        return "connection refused: nothing listens at the port";
      case errc::connect_timed_out:
        return "the host does not answer";
      case errc::tls_failed:
        return "TLS failed, or the certificate is not valid for the host";
      case errc::tls_untrusted:
        return "the host's TLS certificate is not trusted; --ca-file FILE adds a certificate to "
               "trust";
      case errc::http_timed_out:
        return "the answer took too long";
      case errc::http_too_slow:
        return "the answer came too slowly";
      case errc::http_dropped:
        return "the host dropped the connection before the answer was complete";
      case errc::http_malformed:
        return "the host does not answer with HTTP, or with an encoding that cannot be read";
      case errc::http_too_large:
        return "the answer is over the size limit";
      case errc::http_too_many_redirects:
        return "too many redirects";
      case errc::http_bad_redirect:
        return "a redirect to an address that is not an http or https URL";
      case errc::http_downgrade:
        return "a redirect from https to http";
      case errc::http_busy:
        return "too many requests are waiting";
      case errc::http_bad_header:
        return "a header of the request is not one line";
      case errc::http_stopped:
        return "stopped";
      case errc::spool_failed:
        return "a large answer cannot be written to a temporary file: is the disk full?";
      case errc::zstd_malformed:
        return "the message is not a zstd frame, or is damaged";
      case errc::zstd_other_dictionary:
        return "the message was compressed with another zstd dictionary than the one that was "
               "given";
      case errc::zstd_too_large:
        return "the decompressed message is over the size limit";
      case errc::http_inflated:
        return "the answer decompresses to far more than an honest one";
      case errc::http_no_room:
        return "there is no room for more of the answer now";
      case errc::message_too_large:
        return "the message is over the size limit; this is its beginning";
      case errc::message_not_utf8:
        return "the message is not UTF-8";
    }
    return "unknown transport error";
  }
};

}  // namespace

boost::system::error_code make_error_code(errc e) {
  static const Category category;
  return {static_cast<int>(e), category};
}

}  // namespace skua::transport
