#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/address_guard.hpp"
#include "transport/spooled_body.hpp"

namespace skua::transport {

/// An additional field of an HTTP request head.
struct HttpHeader {
  std::string name;
  std::string value;
};

/// Returns false for a header with a line break or NUL, which would break the request or inject
/// another field.
inline bool is_one_line(const HttpHeader& header) {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  return !header.name.empty() && header.name.find_first_of(kBreaks) == std::string::npos &&
         header.value.find_first_of(kBreaks) == std::string::npos;
}

/// Returns the value of an Authorization header for this user and password (RFC 7617). `user` must
/// not have a colon.
std::string basic_authorization(std::string_view user, std::string_view password);

/// The origin of a host name.
enum class HostOrigin {
  /// A document, a handle, a redirect or another host, all of which are hostile. Only public
  /// addresses are permitted, unless the client's options permit others.
  network,
  /// The operator of this process. Any address is permitted. Redirect targets count as `network`.
  configured,
};

struct HttpRequest {
  /// An http or https URL.
  std::string url;
  HostOrigin origin = HostOrigin::network;
  /// The headers are sent to the URL's own host, not to redirect targets. Each must be one line
  /// (http_bad_header).
  std::vector<HttpHeader> headers;
  /// Makes the request a POST of this JSON text. It uses a new connection, so that it is sent at
  /// most once, and redirects are not followed.
  std::optional<std::string> json;
  /// A longer body ends the request (http_too_large) before it is stored. The limit applies to the
  /// decompressed body.
  std::size_t max_body_bytes = 1024 * 1024;
  /// A longer body is stored in a temporary file instead of memory. With 0 no body is.
  std::size_t spool_above = 0;
  /// If set, the client's total timeout ends with the head of the answer. The body may take any
  /// time, but each window (HttpClientOptions::speed_window) must receive this many bytes per
  /// second on average, before decompression. A slower body ends the request (http_too_slow).
  std::optional<std::uint64_t> min_bytes_per_second;
  /// The minimum average rate of the whole body, from HttpClientOptions::average_after on, in
  /// addition to `min_bytes_per_second`. So the time is in proportion to the size. A slower body
  /// ends the request (http_too_slow).
  std::uint64_t min_average_bytes_per_second = 0;
  /// Asks for an uncompressed body. If the host compresses the body nevertheless, the body is
  /// decompressed, but growth to more than 16 times its size ends the request (http_inflated).
  bool plain = false;
  /// Called on the client's thread before more bytes of a decompressed body are stored, with their
  /// number. If the function returns false, the request ends (http_no_room). Must not block or
  /// throw. May be empty.
  std::function<bool(std::size_t)> may_hold;
  /// Called on the client's thread with the number of bytes received since the last call, before
  /// decompression and including heads and redirects. Must not block or throw. May be empty.
  std::function<void(std::size_t)> on_bytes;
};

/// An answer of any status, after redirects. Absent headers are empty or have no value.
struct HttpAnswer {
  unsigned status = 0;
  /// The decompressed body. Empty if the body is in `spooled`.
  std::string body;
  /// Set if the body was longer than HttpRequest::spool_above.
  std::shared_ptr<const SpooledBody> spooled;
  /// The URL of the last request, after redirects.
  std::string url;
  std::string content_type;
  std::string date;  // the host's time
  /// The header Location. An empty value refers to `url` itself (RFC 3986, section 4.4).
  std::optional<std::string> location;
  std::string retry_after;
  std::string rate_limit;            // RateLimit-Limit
  std::string rate_limit_remaining;  // RateLimit-Remaining
  std::string rate_limit_reset;      // RateLimit-Reset
};

/// Returns the body, which is in memory or in a file. The view is valid as long as the answer
/// exists and does not move.
ByteView body_of(const HttpAnswer& answer);
ByteView body_of(HttpAnswer&&) = delete;

/// Returns the host's time, from the header Date, in whole seconds. Returns nothing if the header
/// is absent or malformed.
std::optional<Timestamp> host_time(const HttpAnswer& answer);

/// Returns the wait that the host asks for: Retry-After (seconds or a date), or RateLimit-Reset (an
/// instant, as PDSes send it, or seconds) if no request remains. Returns nothing if the host does
/// not ask. The wait is never negative, but unbounded: the caller must set a limit.
std::optional<std::chrono::seconds> asked_wait(const HttpAnswer& answer, Timestamp now);

/// The request limit that a host states in an answer (RateLimit-Limit, -Remaining, -Reset).
struct RateLimit {
  /// The number of requests in a window, or nothing if the host does not state it.
  std::optional<std::int64_t> limit;
  /// The number of requests that remain in this window. Never negative.
  std::int64_t remaining = 0;
  /// The time until the next window. Never negative, but unbounded: the caller sets a limit.
  std::chrono::seconds until_reset{0};
};

/// Returns the limit that an answer states, or nothing if there is none or if the limit has no
/// meaning.
std::optional<RateLimit> stated_rate_limit(const HttpAnswer& answer, Timestamp now);

struct HttpClientOptions {
  /// A PEM file with certificates to trust besides the system's. May be empty.
  std::string ca_file;
  /// The header User-Agent. If empty, the client sends `skua/<version>`.
  std::string user_agent = {};
  /// The limit for name look-up, TCP and TLS of each hop together.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
  /// The limit for a request with all its redirects, from the moment it leaves the queue.
  std::chrono::milliseconds total_timeout = std::chrono::seconds(30);
  int max_redirects = 3;
  /// The time for which a connection is kept for the next request to its origin. With zero no
  /// connection is kept.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(10);
  /// The number of kept connections.
  std::size_t idle_in_all = 64;
  /// The number of kept connections to one origin.
  std::size_t idle_of_one_origin = 4;
  /// The period over which HttpRequest::min_bytes_per_second is averaged.
  std::chrono::milliseconds speed_window = std::chrono::seconds(30);
  /// The time after which HttpRequest::min_average_bytes_per_second takes effect.
  std::chrono::milliseconds average_after = std::chrono::minutes(10);
  /// The folder for bodies above HttpRequest::spool_above, which become unnamed files. If empty,
  /// the system's folder for temporary files is used.
  std::filesystem::path spool_dir = {};
  /// The limit of active requests. Further requests wait.
  std::size_t max_at_once = 32;
  /// The limit of waiting requests. Further requests are refused (http_busy).
  std::size_t max_waiting = 10'000;
  /// Permits names from the network to lead to loopback, private and other special addresses, for
  /// tests and for private networks.
  bool allow_private_hosts = false;
  /// Runs on separate threads, which may outlive the client.
  HostLookup lookup = look_up_host;
};

/// Makes many GET and POST requests over HTTP/1.1 at the same time, on a thread of its own.
/// Connections are reused for the same scheme, host and port. If a reused connection turns out to
/// be closed, the request is repeated once on a new connection. TLS is 1.2 or newer, and the
/// certificate must match the name. At most eight addresses of a name are tried, in the order of
/// the look-up. Bodies may be compressed (zstd, gzip).
///
/// Every request to a host that the network named uses this client, and only this client restricts
/// such hosts to public addresses. For each hop, including redirects, the client looks up the
/// addresses once, checks them, and connects to the checked address, so that a name cannot change
/// in between. A reused connection leads to an address that was checked in this way. A configured
/// host may have an address that is not public; a connection to such an address is reused only for
/// configured hosts. A redirect never leads from https to http.
class HttpClient {
 public:
  /// Receives an answer, or errc: url_..., host_..., address_not_public, connect_..., tls_failed,
  /// http_..., spool_failed.
  using Callback = std::function<void(Result<HttpAnswer>)>;

  /// Throws std::runtime_error if the CA file cannot be used.
  explicit HttpClient(HttpClientOptions options);
  /// Calls `stop` if necessary.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Starts a request. Any thread. `done` is called once, on the client's thread, and must not
  /// block or throw.
  void send(HttpRequest request, Callback done);

  /// Makes a request and waits for the answer. Any thread except the client's own.
  Result<HttpAnswer> send(HttpRequest request);

  /// Aborts active and queued requests (http_stopped) and joins the thread. Any thread except the
  /// client's own; idempotent. Later requests are refused on the caller's thread.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::transport
