#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/bounded_queue.hpp"
#include "base/metric.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "documents/handle_check.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "transport/adaptive_limit.hpp"
#include "transport/http_client.hpp"
#include "writer/handle_claims.hpp"

namespace skua::accounts {

/// The results of look-ups of handles since the start. The verifier writes them, and any thread
/// reads them.
struct HandleCounters {
  Counter valid{"handles_valid", "skua_handles_valid_total", "handles",
                "Handles that resolve to their account"};
  Counter invalid{"handles_invalid", "skua_handles_invalid_total", "handles",
                  "Handles that do not resolve to their account"};
  Counter failed{"handles_failed", "skua_handles_failed_total", "handles",
                 "Look-ups of handles that failed because of a server; they are repeated"};
};

/// Verifies handles: takes due claims from `bsky.actors`, several at a time, and writes the
/// results. The queue is in the database, so a stop or a crash loses nothing, and one process can
/// verify the claims that another process has written. The pipeline never waits for the verifier.
/// The verifier waits while the database is down.
class HandleVerifier {
 public:
  /// Checks whether a handle resolves to a DID. Blocks. Several threads call the function at the
  /// same time. The error is the reason why the handle does not resolve to the DID. After
  /// documents::is_server_failure the handle is looked up again.
  using Check = std::function<Result<void>(const std::string& did, const std::string& handle)>;

  struct Options {
    /// The number of concurrent look-ups. Each has a thread of its own.
    std::size_t at_once = 8;
    /// The largest number of look-ups that start per second, and in a burst after a quiet second.
    /// Many handles share one host, so there is a limit.
    double per_second = 20;
    /// The pause between two queries for due claims while none are due.
    std::chrono::milliseconds pause{1'000};
  };

  HandleVerifier(postgres::Runtime& runtime, Check check, Options options);
  ~HandleVerifier();
  HandleVerifier(const HandleVerifier&) = delete;
  HandleVerifier& operator=(const HandleVerifier&) = delete;

  /// Ignores the results of look-ups from now on. The owner calls this function before it cancels
  /// the active look-ups, so that a cancelled look-up does not count as a failure of a server. Does
  /// not wait.
  void request_stop();

  /// Waits for the active look-ups, which the owner has cancelled, and ends all threads. The claims
  /// of these look-ups stay due. Idempotent.
  void stop();

  const HandleCounters& counters() const { return counters_; }

 private:
  void look_up();
  /// Writes the results of the look-ups that have ended.
  void write_checked(postgres::Session& session, Timestamp now);
  /// Takes due claims while there is room for more look-ups. Returns whether it took any.
  bool take_due(postgres::Session& session, Timestamp now);
  std::vector<writer::CheckedHandle> take_checked();

  const Check check_;
  const Options options_;
  /// PostgreSQL's clock, because PostgreSQL's clock determined the due times.
  const Clock& clock_;
  HandleCounters counters_;
  transport::RequestBudget budget_;
  // The accounts of active look-ups. Only the verifier's thread uses this set.
  boost::unordered_flat_set<AccountNumber> under_way_;
  BoundedQueue<writer::DueHandle> queue_;
  std::mutex mutex_;
  std::vector<writer::CheckedHandle> checked_;
  std::vector<std::jthread> lookers_;
  postgres::SessionThread thread_;
};

/// A HandleVerifier with its DNS client and its HTTP client.
class HandleLookups {
 public:
  struct Options {
    documents::DnsServer dns;
    std::string ca_file;
    bool allow_private_hosts = false;
  };

  HandleLookups(postgres::Runtime& runtime, const Options& options)
      : http_(http_options(options)),
        check_(http_, documents::dns_txt_lookup(options.dns, kLookupTimeouts)),
        verifier_(
            runtime,
            [this](const auto& did, const auto& handle) { return check_.verify(did, handle); },
            {}) {}

  const HandleCounters& counters() const { return verifier_.counters(); }

  /// Waits until the active DNS look-ups end. Idempotent.
  void stop() {
    verifier_.request_stop();
    http_.stop();
    verifier_.stop();
  }

 private:
  /// The limits are short, because a stop waits for the end of a look-up.
  static constexpr documents::DnsTimeouts kLookupTimeouts{
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
  const documents::HandleCheck check_;
  HandleVerifier verifier_;
};

}  // namespace skua::accounts
