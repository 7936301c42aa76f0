#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "app/account_source.hpp"
#include "app/chain_log.hpp"
#include "store/repository_table.hpp"
#include "store/session.hpp"

namespace skua::app {

/// What is known of a repository that no frame came from lately.
struct FoundRepository {
  /// As it is stored, or about to be.
  store::RepositoryRow row;
  /// Or why there is none; because a server failed only after several tries, and never of did:plc.
  Result<AccountIdentity> identity;
};

/// Finds where a repository stands and who signs for it, many at once, on a thread and a database
/// session of its own. Waits for servers that fail as long as it takes: what cannot be verified now
/// is not lost, the source waits.
class RepositoryLookup {
 public:
  using Done = std::function<void(FoundRepository)>;

  struct Options {
    /// Not used without a chain.
    std::string database_url;
    /// Called from the look-up's thread when going on would be wrong: nothing is found from then
    /// on.
    std::function<void(const std::string& what)> on_defect;
    // How long it waits before it asks again.
    std::chrono::milliseconds database_pause{1'000};
    /// A directory's failure is remembered for half a minute: asking sooner gives the same answer.
    std::chrono::milliseconds server_pause{31'000};
  };

  /// `chain` is what is not stored yet; null: nothing is stored at all, and all repositories are
  /// new. Accounts and chain must outlive the lookup.
  RepositoryLookup(AccountSource& accounts, const ChainLog* chain, Options options);
  ~RepositoryLookup();

  /// `done` is called once, on some thread, or never when the lookup is stopped before.
  void find(const std::string& did, Done done);

  /// Ends the thread. The accounts' source is stopped by its owner, before. Again is harmless.
  void stop();

 private:
  struct Wanted {
    std::string did;
    Done done;
    int attempts = 0;
  };
  struct Later {
    std::chrono::steady_clock::time_point at;
    std::shared_ptr<Wanted> wanted;
    friend bool operator<(const Later& a, const Later& b) { return a.at > b.at; }
  };
  /// Shared with answers that may come after the end.
  struct Inbox {
    std::mutex mutex;
    std::condition_variable_any filled;
    std::vector<std::shared_ptr<Wanted>> wanted;
    std::priority_queue<Later> later;
  };

  void run(const std::stop_token& stop);
  void find_all(const std::stop_token& stop);
  void look_up(const std::vector<std::shared_ptr<Wanted>>& wanted, const std::stop_token& stop);
  std::vector<store::RepositoryRow> load(std::vector<std::string> dids,
                                         const std::stop_token& stop);
  void ask(store::RepositoryRow row, std::shared_ptr<Wanted> wanted);

  AccountSource& accounts_;
  const ChainLog* chain_;
  const Options options_;
  std::unique_ptr<store::Session> session_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::jthread thread_;
};

}  // namespace skua::app
