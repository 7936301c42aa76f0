#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/bounded_queue.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "identity/request_budget.hpp"
#include "store/session.hpp"
#include "writer/handle_claims.hpp"

namespace skua::accounts {

/// What came of look-ups so far. Written by the verifier, read by any thread.
struct HandleCounters {
  std::atomic<std::uint64_t> valid{0};
  std::atomic<std::uint64_t> invalid{0};
  /// A server failed: it is looked up again.
  std::atomic<std::uint64_t> failed{0};
};

/// Sees to it that handles are looked up: takes claims that are due from `bsky.actors`, several at
/// a time, and writes what was found. What is due stands in the database, whoever wrote it: nothing
/// is lost by a stop or a crash, and who indexes without looking up leaves it to who does. Beside
/// the pipeline, which never waits for it; while the database is away it waits.
class HandleVerifier {
 public:
  /// Whether a handle leads to a DID; blocks. Called by several threads at once. Error: why not;
  /// identity::is_server_failure tells those after which it is looked up again.
  using Check = std::function<Result<void>(const std::string& did, const std::string& handle)>;

  struct Options {
    std::string database_url;
    /// Look-ups under way, each on a thread of its own.
    std::size_t at_once = 8;
    /// Started a second at most, and after a quiet second at once: the hosts of many handles are
    /// one host.
    double per_second = 20;
    /// How often the database is asked for what is due when nothing is.
    std::chrono::milliseconds pause{1'000};
    /// Called from the verifier's thread when going on would be wrong: nothing is looked up from
    /// then on.
    std::function<void(const std::string& what)> on_defect;
  };

  /// `clock`: PostgreSQL's, by which claims become due. It must outlive the verifier.
  HandleVerifier(Check check, Options options, const Clock& clock);
  ~HandleVerifier();
  HandleVerifier(const HandleVerifier&) = delete;
  HandleVerifier& operator=(const HandleVerifier&) = delete;

  /// What look-ups find from now on is left. Before who gave `check` makes those under way end:
  /// that is no failure of a server. Does not wait.
  void request_stop();

  /// Ends all threads, once the look-ups under way have ended: who gave `check` makes them end.
  /// What they found is left, and due again. Idempotent.
  void stop();

  const HandleCounters& counters() const { return counters_; }

 private:
  void run(const std::stop_token& stop);
  void look_up();
  /// One round: writes what was found, and takes what is due. Returns whether it did anything.
  bool write_and_take();
  std::vector<writer::CheckedHandle> take_checked();

  const Check check_;
  const Options options_;
  const Clock& clock_;
  HandleCounters counters_;
  identity::RequestBudget budget_;
  std::unique_ptr<store::Session> session_;
  boost::unordered_flat_set<std::int32_t> under_way_;  // accounts; the verifier's thread alone
  BoundedQueue<writer::DueHandle> queue_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<writer::CheckedHandle> checked_;
  std::vector<std::jthread> lookers_;
  std::jthread thread_;
};

}  // namespace skua::accounts
