#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "accounts/handle_verifier.hpp"
#include "base/time.hpp"
#include "identity/handle_check.hpp"
#include "identity/txt_lookup.hpp"
#include "transport/http_client.hpp"

namespace skua::accounts {

/// Handles looked up in the network, put together: DNS and the hosts of handles for a
/// HandleVerifier.
class HandleLookups {
 public:
  struct Options {
    identity::DnsServer dns;
    std::string ca_file;
    bool allow_private_hosts = false;
    HandleVerifier::Options verifier;
  };

  HandleLookups(const Options& options, const Clock& clock)
      : http_(http_options(options)),
        check_(http_, identity::dns_txt_lookup(options.dns, kPatience)),
        cursor_saver_(
            [this](const auto& did, const auto& handle) { return check_.verify(did, handle); },
            options.verifier, clock) {}

  const HandleCounters& counters() const { return cursor_saver_.counters(); }

  /// Takes as long as a look-up in DNS may take. Idempotent.
  void stop() {
    cursor_saver_.request_stop();
    http_.stop();
    cursor_saver_.stop();
  }

 private:
  /// Nobody waits for an answer, but a stop waits for the end of the look-up.
  static constexpr identity::DnsPatience kPatience{
      .first_wait = std::chrono::seconds(1), .tries = 2, .total = std::chrono::seconds(3)};

  static transport::HttpClientOptions http_options(const Options& options) {
    transport::HttpClientOptions http;
    http.ca_file = options.ca_file;
    http.allow_private_hosts = options.allow_private_hosts;
    http.connect_timeout = std::chrono::seconds(5);
    http.total_timeout = std::chrono::seconds(10);
    return http;
  }

  transport::HttpClient http_;
  const identity::HandleCheck check_;
  HandleVerifier cursor_saver_;
};

}  // namespace skua::accounts
