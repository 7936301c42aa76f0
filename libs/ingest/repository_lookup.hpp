#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "accounts/account_source.hpp"
#include "ingest/pending_heads.hpp"
#include "store/repository_table.hpp"
#include "store/session.hpp"

namespace skua::ingest {

/// What is known of a repository that no frame came from lately.
struct FoundRepository {
  /// As it is stored, or about to be.
  store::RepositoryRow row;
  /// Or why there is none.
  Result<accounts::AccountIdentity> identity;
};

/// Finds where a repository stands and who signs for it, many at once, on a thread and a database
/// session of its own. While the database is away it waits.
class RepositoryLookup {
 public:
  using Done = std::function<void(FoundRepository)>;
  using RowFound = std::function<void(const store::RepositoryRow&)>;

  struct Options {
    /// Not used without a chain.
    std::string database_url;
    /// Called from the look-up's thread when going on would be wrong: nothing is found from then
    /// on.
    std::function<void(const std::string& what)> on_defect;
    /// How long it waits for the database before it asks again.
    std::chrono::milliseconds database_pause{1'000};
  };

  /// `heads` is what is not stored yet; null: nothing is stored at all, and all repositories are
  /// new. Accounts and chain must outlive the lookup.
  RepositoryLookup(accounts::AccountSource& accounts, const PendingHeads* heads, Options options);
  ~RepositoryLookup();

  /// `done` is called once, on some thread, or never when the lookup is stopped before. `row_found`
  /// is called before it, when the row is there and the account's identity is about to be asked
  /// for: from then on nothing waits for the database. It may be empty.
  void find(const std::string& did, Done done, RowFound row_found = nullptr);

  /// Ends the thread. The accounts' source is stopped by its owner, before. Idempotent.
  void stop();

 private:
  struct Wanted {
    std::string did;
    Done done;
    RowFound row_found;
  };

  void run(const std::stop_token& stop);
  void find_all(const std::stop_token& stop);
  void look_up(std::vector<Wanted> wanted, const std::stop_token& stop);
  std::vector<store::RepositoryRow> load(std::vector<std::string> dids,
                                         const std::stop_token& stop);

  accounts::AccountSource& accounts_;
  const PendingHeads* heads_;
  const Options options_;
  std::unique_ptr<store::Session> session_;
  std::mutex mutex_;
  std::condition_variable_any filled_;
  std::vector<Wanted> wanted_;
  std::jthread thread_;
};

}  // namespace skua::ingest
