#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/host_lookup.hpp"
#include "transport/http_header.hpp"
#include "transport/spooled_body.hpp"

namespace skua::transport {

/// Who named a host.
enum class HostOrigin {
  /// A document, a handle, a redirect, another host: hostile. Public addresses only, unless the
  /// client's options allow others.
  network,
  /// The person who runs this: any address. Redirects count as the network's.
  configured,
};

struct HttpRequest {
  /// http or https.
  std::string url;
  HostOrigin origin = HostOrigin::network;
  /// Sent to the URL's own host, not to where it redirects. One line each (http_bad_header).
  std::vector<HttpHeader> headers;
  /// Makes it a POST of this JSON text: over a new connection, so that it is sent once at most, and
  /// a redirect is the answer.
  std::optional<std::string> json;
  /// A longer body ends the request (http_too_large), before it is held. What counts is the body
  /// without compression.
  std::size_t max_body_bytes = 1024 * 1024;
  /// A longer body is held in a temporary file instead of memory; 0: none is.
  std::size_t spool_above = 0;
  /// With it the client's total timeout ends with the head of the answer; the body may take as long
  /// as it likes while each window (HttpClientOptions::speed_window) brings so much on average, as
  /// it is sent; else http_too_slow.
  std::optional<std::uint64_t> min_bytes_per_second;
  /// In addition: the minimum average rate of the whole body after
  /// HttpClientOptions::average_after, so that the time is in proportion to the size; otherwise
  /// http_too_slow.
  std::uint64_t min_average_bytes_per_second = 0;
  /// Asks for a body without compression. A host that compresses it all the same is taken at its
  /// word, as any: what becomes more than 16 times as long ends the request (http_inflated).
  bool plain = false;
  /// Called on the client's thread before so many bytes of a body, without compression, are held
  /// besides those before; false ends the request (http_no_room). Must not block or throw. May be
  /// empty.
  std::function<bool(std::size_t)> may_hold;
  /// Called on the client's thread with the number of bytes that have come since, heads and
  /// redirects included, before their compression is undone. Must not block or throw. May be empty.
  std::function<void(std::size_t)> on_bytes;
};

/// An answer of any status, after redirects. Headers are empty where there were none.
struct HttpAnswer {
  unsigned status = 0;
  /// Without compression. Empty when `spooled` has it.
  std::string body;
  /// Set when the body was longer than HttpRequest::spool_above.
  std::shared_ptr<const SpooledBody> spooled;
  /// The URL of the last request, after redirects.
  std::string url;
  std::string content_type;
  std::string location;
  std::string retry_after;
  std::string rate_limit;            // RateLimit-Limit
  std::string rate_limit_remaining;  // RateLimit-Remaining
  std::string rate_limit_reset;      // RateLimit-Reset
};

/// The body, wherever it is. Valid as long as the answer is, in its place.
ByteView body_of(const HttpAnswer& answer);
ByteView body_of(HttpAnswer&&) = delete;

/// How long the host asks us to wait: Retry-After (seconds or a date), or RateLimit-Reset (an
/// instant, as PDSes write it, or seconds) when nothing remains. Nothing when it does not say.
/// Never negative, but as long as it pleases the host: the caller sets a limit.
std::optional<std::chrono::seconds> asked_wait(const HttpAnswer& answer, Timestamp now);

struct HttpClientOptions {
  /// A PEM file with certificates to trust besides the system's; empty: none.
  std::string ca_file;
  /// Empty: `skua/<version>`.
  std::string user_agent;
  /// For name look-up, TCP and TLS of each hop.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);
  /// For a request with all its redirects, from the moment it leaves the queue.
  std::chrono::milliseconds total_timeout = std::chrono::seconds(30);
  int max_redirects = 3;
  /// How long a connection is kept for the next request to its origin; zero: none is kept. 64 in
  /// all are kept.
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(10);
  /// How many are kept for one origin.
  std::size_t idle_of_one_origin = 4;
  /// What HttpRequest::min_bytes_per_second is an average of.
  std::chrono::milliseconds speed_window = std::chrono::seconds(30);
  /// From when on HttpRequest::min_average_bytes_per_second counts.
  std::chrono::milliseconds average_after = std::chrono::minutes(10);
  /// Where bodies above HttpRequest::spool_above go, as files without a name; empty: the system's
  /// folder for temporary files.
  std::filesystem::path spool_dir;
  /// Requests under way; further ones wait.
  std::size_t max_at_once = 32;
  /// Further ones than these are refused (http_busy).
  std::size_t max_waiting = 10'000;
  /// Lets names from the network lead to loopback, private and other special addresses: for tests
  /// and for networks of one's own.
  bool allow_private_hosts = false;
  /// Runs on threads of its own, which may outlive the client.
  HostLookup lookup = look_up_host;
};

/// Makes GET and POST requests over HTTP/1.1, many at once, on a thread of its own. Connections are
/// used again, for the same scheme, host and port; when one turns out to have ended, the request is
/// made once more on a new one. TLS is 1.2 or newer, with the certificate checked against the name.
/// Of a name's addresses eight are tried, in the order of the look-up. Bodies may come compressed
/// (zstd, gzip).
///
/// Every request to a host that the network named goes through here, and here alone such hosts are
/// kept to public addresses: the addresses are looked up once, checked, and then connected to, for
/// each redirect anew, so that a name cannot change in between. A connection that is used again is
/// to an address that was checked so; one to another address, which a configured host may have, is
/// used for configured hosts only. A redirect never leads from https to http.
class HttpClient {
 public:
  /// An answer, or errc: url_..., host_..., address_not_public, connect_..., tls_failed, http_...,
  /// spool_failed.
  using Callback = std::function<void(Result<HttpAnswer>)>;

  /// Throws std::runtime_error when the CA file cannot be used.
  explicit HttpClient(HttpClientOptions options);
  /// Stops if need be.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Any thread. `done` is called once, on the client's thread, and must not block or throw.
  void get(HttpRequest request, Callback done);

  /// Waits for the answer. Any thread but the client's own.
  Result<HttpAnswer> get(HttpRequest request);

  /// Aborts active and queued requests (http_stopped) and joins the thread. Any thread except the
  /// client's own; idempotent. Later requests are refused on the caller's thread.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::transport
