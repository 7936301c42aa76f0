#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "accounts/account_source.hpp"
#include "pipeline/pending_heads.hpp"
#include "postgres/session.hpp"
#include "postgres/session_thread.hpp"
#include "tables/repository_table.hpp"

namespace skua::pipeline {

/// The result of a look-up: a repository from the database, and its account from the AccountSource.
struct FoundRepository {
  /// The row of the repository, as it is stored or about to be stored.
  tables::RepositoryRow row;
  /// The account, or the reason why there is none.
  Result<documents::Account> account;
};

/// Looks up the heads of repositories and the keys of their accounts, many at once, on a thread and
/// a database session of its own. It waits while the database is not reachable.
class RepositoryLookup {
 public:
  using Done = std::function<void(FoundRepository)>;
  using RowFound = std::function<void(const tables::RepositoryRow&)>;

  /// `heads` are the heads that are not stored yet. If it is null, no heads are stored, and all
  /// repositories are new. `accounts` and `heads` outlive the look-up. `database_pause` is the time
  /// between two attempts while the database is not reachable.
  RepositoryLookup(postgres::Runtime& runtime, accounts::AccountSource& accounts,
                   const PendingHeads* heads,
                   std::chrono::milliseconds database_pause = std::chrono::seconds(1));

  /// Looks up a repository. `done` is called once, on any thread, or never after a stop.
  /// `row_found` may be empty. It is called before `done`, when the head is known and before the
  /// identity of the account is requested. After this call, the question no longer waits for the
  /// database.
  void find(const std::string& did, Done done, RowFound row_found = nullptr);

  /// Ends the thread. The owner must have stopped the AccountSource before. Idempotent.
  void stop() { thread_.stop(); }

 private:
  struct Wanted {
    std::string did;
    Done done;
    RowFound row_found;
  };

  /// Looks up all wanted repositories in one round. Throws postgres::SqlError, and the repositories
  /// are then still wanted.
  void look_up(postgres::LazySession& session);

  accounts::AccountSource& accounts_;
  const PendingHeads* heads_;
  std::mutex mutex_;
  std::vector<Wanted> wanted_;
  /// The repositories that the thread has taken from `wanted_`. Only the thread uses them.
  std::vector<Wanted> taken_;
  postgres::SessionThread thread_;
};

}  // namespace skua::pipeline
