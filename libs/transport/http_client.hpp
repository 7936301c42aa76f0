#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "transport/host_lookup.hpp"

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
  /// A longer body ends the request (http_too_large), before it is held.
  std::size_t max_body_bytes = 1024 * 1024;
};

/// An answer of any status, after redirects. Headers are empty where there were none.
struct HttpAnswer {
  unsigned status = 0;
  std::string body;
  /// What was asked last.
  std::string url;
  std::string content_type;
  std::string location;
  std::string retry_after;
  std::string rate_limit;            // RateLimit-Limit
  std::string rate_limit_remaining;  // RateLimit-Remaining
  std::string rate_limit_reset;      // RateLimit-Reset
};

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

/// Makes GET requests over HTTP/1.1, many at once, on a thread of its own, a connection each. TLS
/// is 1.2 or newer, with the certificate checked against the name. Of a name's addresses eight are
/// tried, in the order of the look-up.
///
/// Every request to a host that the network named goes through here, and here alone such hosts are
/// kept to public addresses: the addresses are looked up once, checked, and then connected to, for
/// each redirect anew, so that a name cannot change in between. A redirect never leads from https
/// to http.
class HttpClient {
 public:
  /// An answer, or errc: url_..., host_..., address_not_public, connect_..., tls_failed, http_...
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

  /// Ends what is under way or waits (http_stopped) and joins the thread. Any thread but the
  /// client's own; again is harmless. Requests that come later are refused on the caller's thread.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skua::transport
