#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/bounded_queue.hpp"
#include "base/metric.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "identity/request_budget.hpp"
#include "store/session.hpp"
#include "store/session_thread.hpp"
#include "writer/handle_claims.hpp"

namespace skua::accounts {

/// Results of look-ups of handles since the start. Written by the verifier, read by any thread.
struct HandleCounters {
  Counter valid{"handles_valid", "skua_handles_valid_total", "handles",
                "Handles that resolve to their account"};
  Counter invalid{"handles_invalid", "skua_handles_invalid_total", "handles",
                  "Handles that do not resolve to their account"};
  Counter failed{"handles_failed", "skua_handles_failed_total", "handles",
                 "Look-ups of handles that failed because of a server; they are repeated"};
};

/// Verifies handles: takes claims that are due from `bsky.actors`, several at a time, and writes
/// the results. The queue is in the database, so a stop or a crash loses nothing, and one process
/// can verify the claims that another has written. The pipeline never waits for it. It waits while
/// the database is down.
class HandleVerifier {
 public:
  /// Checks whether a handle resolves to a DID. Blocks. Called by several threads at once. Error:
  /// the reason why it does not; after identity::is_server_failure the handle is looked up again.
  using Check = std::function<Result<void>(const std::string& did, const std::string& handle)>;

  struct Options {
    std::string database_url;
    /// Concurrent look-ups, each on a thread of its own.
    std::size_t at_once = 8;
    /// Look-ups started per second at most, and in a burst after a quiet second. Many handles share
    /// one host.
    double per_second = 20;
    /// Between two queries for due claims while none are due.
    std::chrono::milliseconds pause{1'000};
    /// Called on the verifier's thread after a fatal error: no handle is looked up from then on.
    std::function<void(const std::string& what)> on_defect;
  };

  /// `check`: see Check. `clock`: PostgreSQL's, because the due times are its. It outlives the
  /// verifier.
  HandleVerifier(Check check, Options options, const Clock& clock);
  ~HandleVerifier();
  HandleVerifier(const HandleVerifier&) = delete;
  HandleVerifier& operator=(const HandleVerifier&) = delete;

  /// Ignores the results of look-ups from now on. The owner calls it before it cancels the active
  /// look-ups, so that a cancelled look-up does not count as a failure of a server. Does not wait.
  void request_stop();

  /// Waits for the active look-ups, which the owner has cancelled, and ends all threads. Their
  /// claims stay due. Idempotent.
  void stop();

  const HandleCounters& counters() const { return counters_; }

 private:
  void look_up();
  /// One round: writes results, and takes claims that are due. False: there were none of either.
  bool write_and_take(store::Session& session);
  std::vector<writer::CheckedHandle> take_checked();

  const Check check_;
  const Options options_;
  const Clock& clock_;
  HandleCounters counters_;
  identity::RequestBudget budget_;
  boost::unordered_flat_set<std::int32_t> under_way_;  // accounts; the verifier's thread alone
  BoundedQueue<writer::DueHandle> queue_;
  std::mutex mutex_;
  std::vector<writer::CheckedHandle> checked_;
  std::vector<std::jthread> lookers_;
  store::SessionThread thread_;
};

}  // namespace skua::accounts
