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

/// False: it would break the request, or inject another field.
inline bool is_one_line(const HttpHeader& header) {
  constexpr std::string_view kBreaks("\r\n\0", 3);
  return !header.name.empty() && header.name.find_first_of(kBreaks) == std::string::npos &&
         header.value.find_first_of(kBreaks) == std::string::npos;
}

/// The value of an Authorization header for this user and password (RFC 7617). `user` has no colon.
std::string basic_authorization(std::string_view user, std::string_view password);

/// The origin of a host name.
enum class HostOrigin {
  /// A document, a handle, a redirect, another host: hostile. Only public addresses, unless the
  /// client's options allow others.
  network,
  /// The operator of this process: any address. Redirect targets count as `network`.
  configured,
};

struct HttpRequest {
  /// http or https.
  std::string url;
  HostOrigin origin = HostOrigin::network;
  /// Sent to the URL's own host, not to redirect targets. Each must be one line (http_bad_header).
  std::vector<HttpHeader> headers;
  /// Makes it a POST of this JSON text: over a new connection, so that it is sent at most once, and
  /// redirects are not followed.
  std::optional<std::string> json;
  /// A longer body ends the request (http_too_large) before it is stored. The limit applies to the
  /// decompressed body.
  std::size_t max_body_bytes = 1024 * 1024;
  /// A longer body is stored in a temporary file instead of memory; 0: never.
  std::size_t spool_above = 0;
  /// If set, the client's total timeout ends with the head of the answer. The body may take any
  /// time, but each window (HttpClientOptions::speed_window) must receive this many bytes per
  /// second on average, before decompression; otherwise http_too_slow.
  std::optional<std::uint64_t> min_bytes_per_second;
  /// In addition: the minimum average rate of the whole body, from HttpClientOptions::average_after
  /// on, so that the time is in proportion to the size; otherwise http_too_slow.
  std::uint64_t min_average_bytes_per_second = 0;
  /// Asks for an uncompressed body. If the host compresses it nevertheless, the body is
  /// decompressed, but growth to more than 16 times its size ends the request (http_inflated).
  bool plain = false;
  /// Called on the client's thread with a number of bytes before that many more bytes of a
  /// decompressed body are stored; false ends the request (http_no_room). Must not block or throw.
  /// May be empty.
  std::function<bool(std::size_t)> may_hold;
  /// Called on the client's thread with the number of bytes received since the last call, before
  /// decompression, heads and redirects included. Must not block or throw. May be empty.
  std::function<void(std::size_t)> on_bytes;
};

/// An answer of any status, after redirects. Absent headers are empty, or nothing.
struct HttpAnswer {
  unsigned status = 0;
  /// The decompressed body. Empty if it is in `spooled`.
  std::string body;
  /// Set if the body was longer than HttpRequest::spool_above.
  std::shared_ptr<const SpooledBody> spooled;
  /// The URL of the last request, after redirects.
  std::string url;
  std::string content_type;
  std::string date;  // the host's time
  /// An empty one refers to `url` itself (RFC 3986, section 4.4).
  std::optional<std::string> location;
  std::string retry_after;
  std::string rate_limit;            // RateLimit-Limit
  std::string rate_limit_remaining;  // RateLimit-Remaining
  std::string rate_limit_reset;      // RateLimit-Reset
};

/// The body, in memory or in its file. Valid as long as the answer exists and does not move.
ByteView body_of(const HttpAnswer& answer);
ByteView body_of(HttpAnswer&&) = delete;

/// The host's clock: the header Date, in whole seconds. Nothing if it is absent or malformed.
std::optional<Timestamp> host_time(const HttpAnswer& answer);

/// How long the host asks us to wait: Retry-After (seconds or a date), or RateLimit-Reset (an
/// instant, as PDSes send it, or seconds) if no request remains. Nothing if the host does not ask.
/// Never negative, but unbounded: the caller must set a limit.
std::optional<std::chrono::seconds> asked_wait(const HttpAnswer& answer, Timestamp now);

/// The request limit that a host states in an answer (RateLimit-Limit, -Remaining, -Reset).
struct RateLimit {
  /// Requests in a window; nothing when the host does not state it.
  std::optional<std::int64_t> limit;
  /// Requests that remain in this window; never negative.
  std::int64_t remaining = 0;
  /// The time until the next window. Never negative, but unbounded: the caller sets a limit.
  std::chrono::seconds until_reset{0};
};

/// The limit that an answer states. Nothing if there is none, or if it is meaningless.
std::optional<RateLimit> stated_rate_limit(const HttpAnswer& answer, Timestamp now);

struct HttpClientOptions {
  /// A PEM file with certificates to trust besides the system's; empty: none.
  std::string ca_file;
  /// Empty: `skua/<version>`.
  std::string user_agent = {};
  /// For name look-up, TCP and TLS of each hop.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
  /// For a request with all its redirects, from the moment it leaves the queue.
  std::chrono::milliseconds total_timeout = std::chrono::seconds(30);
  int max_redirects = 3;
  /// How long a connection is kept for the next request to its origin; zero: not at all.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(10);
  /// The number of kept connections.
  std::size_t idle_in_all = 64;
  /// The number of kept connections to one origin.
  std::size_t idle_of_one_origin = 4;
  /// The period over which HttpRequest::min_bytes_per_second is averaged.
  std::chrono::milliseconds speed_window = std::chrono::seconds(30);
  /// When HttpRequest::min_average_bytes_per_second takes effect.
  std::chrono::milliseconds average_after = std::chrono::minutes(10);
  /// The folder for bodies above HttpRequest::spool_above, as unnamed files; empty: the system's
  /// folder for temporary files.
  std::filesystem::path spool_dir = {};
  /// Active requests; further ones wait.
  std::size_t max_at_once = 32;
  /// Waiting requests; further ones are refused (http_busy).
  std::size_t max_waiting = 10'000;
  /// Lets names from the network lead to loopback, private and other special addresses: for tests
  /// and for private networks.
  bool allow_private_hosts = false;
  /// Runs on threads of its own, which may outlive the client.
  HostLookup lookup = look_up_host;
};

/// Makes GET and POST requests over HTTP/1.1, many at once, on a thread of its own. Connections are
/// reused for the same scheme, host and port; if a reused connection turns out to be closed, the
/// request is repeated once on a new one. TLS is 1.2 or newer, and the certificate must match the
/// name. At most eight addresses of a name are tried, in the order of the look-up. Bodies may be
/// compressed (zstd, gzip).
///
/// Every request to a host that the network named uses this client, and only this client restricts
/// such hosts to public addresses. For each hop, redirects included, it looks the addresses up
/// once, checks them, and connects to the checked address, so that a name cannot change in between.
/// A reused connection leads to an address that was checked in this way. A connection to any other
/// address, which a configured host may have, is reused for configured hosts only. A redirect never
/// leads from https to http.
class HttpClient {
 public:
  /// An answer, or errc: url_..., host_..., address_not_public, connect_..., tls_failed, http_...,
  /// spool_failed.
  using Callback = std::function<void(Result<HttpAnswer>)>;

  /// Throws std::runtime_error if the CA file cannot be used.
  explicit HttpClient(HttpClientOptions options);
  /// Calls `stop` if necessary.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Any thread. `done` is called once, on the client's thread, and must not block or throw.
  void send(HttpRequest request, Callback done);

  /// Waits for the answer. Any thread but the client's own.
  Result<HttpAnswer> send(HttpRequest request);

  /// Aborts active and queued requests (http_stopped) and joins the thread. Any thread except the
  /// client's own; idempotent. Later requests are refused on the caller's thread.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::transport
