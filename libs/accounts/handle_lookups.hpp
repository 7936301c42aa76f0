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

/// A HandleVerifier with its DNS and HTTP clients.
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
        verifier_(
            [this](const auto& did, const auto& handle) { return check_.verify(did, handle); },
            options.verifier, clock) {}

  const HandleCounters& counters() const { return verifier_.counters(); }

  /// Takes as long as the DNS look-ups that are active. Idempotent.
  void stop() {
    verifier_.request_stop();
    http_.stop();
    verifier_.stop();
  }

 private:
  /// A stop waits for the end of a look-up.
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
  HandleVerifier verifier_;
};

}  // namespace skua::accounts
